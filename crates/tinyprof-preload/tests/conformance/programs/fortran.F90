! Fortran's ignored arguments, null handles and lifetimes, in each of its interfaces. It lists its
! job and says lines as the programs in C do, see case.h.
program fortran
#ifdef USE_MPI_F08
    use mpi_f08
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define REQUEST type(MPI_Request)
#define WINDOW type(MPI_Win)
#define MESSAGE type(MPI_Message)
#elif defined(USE_MPI)
    use mpi
#endif
#ifndef COMM
#define COMM integer
#define DATATYPE integer
#define REQUEST integer
#define WINDOW integer
#define MESSAGE integer
#endif
    implicit none
#if !defined(USE_MPI_F08) && !defined(USE_MPI)
    include 'mpif.h'
#endif
    character(len=32) :: word
    integer :: rank, ranks, error

    call get_command_argument(1, word)
    if (word == 'list') then
        print '(a)', '2'
        stop
    end if
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    call ignored_statuses()
    call null_requests()
    call in_place()
    call freed_communicator()
    call one_sided()
    call errors()
    call MPI_Finalize(error)

contains

    subroutine say(of, value)
        character(len=*), intent(in) :: of
        integer, intent(in) :: value
        character(len=1024) :: directory
        character(len=16) :: name
        integer :: file
        call get_environment_variable('CONFORMANCE_LINES', directory)
        write (name, '(i0)') rank
        open (newunit=file, file=trim(directory)//'/'//trim(name), position='append')
        write (file, '(a, a, i0)') of, ': ', value
        close (file)
    end subroutine

    subroutine ignored_statuses()
        integer :: value, flag_as_number
        REQUEST :: requests(2)
        logical :: flag
        value = -1
        call MPI_Sendrecv(rank, 1, MPI_INTEGER, 1 - rank, 0, value, 1, MPI_INTEGER, 1 - rank, 0, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
        call say('Sendrecv', value)
        call MPI_Irecv(value, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, requests(1), error)
        call MPI_Isend(rank, 1, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, requests(2), error)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
        call say('Waitall', value)
        call MPI_Irecv(value, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, requests(1), error)
        call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
        call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, error)
        flag_as_number = merge(1, 0, flag)
        call say('Iprobe', flag_as_number)
        call MPI_Sendrecv_replace(value, 1, MPI_INTEGER, 1 - rank, 2, 1 - rank, 2, MPI_COMM_WORLD, &
                                  MPI_STATUS_IGNORE, error)
        call say('replace', value)
    end subroutine

    subroutine null_requests()
        integer :: index, count, indices(2)
        REQUEST :: requests(2)
        logical :: flag
        requests = MPI_REQUEST_NULL
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
        call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, error)
        call say('Waitany', merge(1, 0, index == MPI_UNDEFINED))
        call MPI_Waitsome(2, requests, count, indices, MPI_STATUSES_IGNORE, error)
        call say('Waitsome', merge(1, 0, count == MPI_UNDEFINED))
        call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, error)
        call say('Testall', merge(1, 0, flag))
        call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    end subroutine

    subroutine in_place()
        integer :: values(2), nothing(1), root
        nothing = -5
        do root = 0, 1
            values = rank + 1
            if (rank == root) then
                call MPI_Reduce(MPI_IN_PLACE, values, 2, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, error)
            else
                call MPI_Reduce(values, nothing, 2, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, error)
            end if
            call say('Reduce', values(1))
            values = rank + 1
            ! What only the root reads, at the others.
            if (rank == root) then
                call MPI_Gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, values, 1, MPI_INTEGER, root, &
                                MPI_COMM_WORLD, error)
            else
                call MPI_Gather(values, 1, MPI_INTEGER, nothing, -3, MPI_DATATYPE_NULL, root, &
                                MPI_COMM_WORLD, error)
            end if
            call say('Gather', values(2))
        end do
        values = rank
        call MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
        call say('Allreduce', values(2))
        values = rank * 10
        call MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, values, 1, MPI_INTEGER, MPI_COMM_WORLD, &
                           error)
        call say('Allgather', values(2))
    end subroutine

    subroutine freed_communicator()
        integer :: value, sent
        COMM :: made
        DATATYPE :: kind_of
        REQUEST :: receive, send
        MESSAGE :: matched
        call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, made, error)
        call MPI_Type_contiguous(1, MPI_INTEGER, kind_of, error)
        call MPI_Type_commit(kind_of, error)
        value = -1
        sent = 70 + rank
        call MPI_Irecv(value, 1, kind_of, MPI_ANY_SOURCE, 3, made, receive, error)
        call MPI_Isend(sent, 1, kind_of, rank, 3, made, send, error)
        call MPI_Type_free(kind_of, error)
        call MPI_Comm_free(made, error)
        call MPI_Wait(receive, MPI_STATUS_IGNORE, error)
        call MPI_Wait(send, MPI_STATUS_IGNORE, error)
        call say('freed', value)
        call MPI_Comm_dup(MPI_COMM_WORLD, made, error)
        call MPI_Isend(sent, 1, MPI_INTEGER, rank, 3, made, send, error)
        call MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, made, matched, MPI_STATUS_IGNORE, error)
        call MPI_Comm_free(made, error)
        call MPI_Mrecv(value, 1, MPI_INTEGER, matched, MPI_STATUS_IGNORE, error)
        call MPI_Wait(send, MPI_STATUS_IGNORE, error)
        call say('matched', value)
    end subroutine

    subroutine one_sided()
        integer :: memory(4), got, nothing(1)
        integer(kind=MPI_ADDRESS_KIND) :: bytes, place
        WINDOW :: made
        memory = rank + 5
        bytes = 16
        place = 1
        got = -1
        call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, made, error)
        call MPI_Win_lock_all(0, made, error)
        call MPI_Get_accumulate(nothing, 0, MPI_DATATYPE_NULL, got, 1, MPI_INTEGER, 1 - rank, place, 1, &
                                MPI_INTEGER, MPI_NO_OP, made, error)
        call MPI_Win_unlock_all(made, error)
        call say('without operation', got)
        call MPI_Win_free(made, error)
    end subroutine

    subroutine errors()
        integer :: class
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, error)
        call MPI_Send(rank, 1, MPI_INTEGER, 77, 0, MPI_COMM_WORLD, error)
        call MPI_Error_class(error, class, error)
        call say('class', class)
        call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, error)
    end subroutine
end program
