! Calls the functions of MPI whose arguments Fortran passes differently from C, and counts for
! itself: calls and bytes of each function, messages and bytes of each peer. Every rank writes what
! it counted to counts-RANK, in the directory that the first argument names. Built three times, for
! mpif.h, the module mpi (USE_MPI) and the module mpi_f08 (USE_MPI_F08).
#ifdef USE_MPI_F08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define DATATYPE type(MPI_Datatype)
#define STATUS type(MPI_Status)
#define SOURCE(status) status%MPI_SOURCE
#else
#define COMM integer
#define REQUEST integer
#define DATATYPE integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define SOURCE(status) status(MPI_SOURCE)
#endif

module counted
   implicit none
   integer, parameter :: functions = 100, peers = 512
   character(len=40) :: names(functions)
   integer :: known = 0, calls(functions) = 0, out(functions) = 0, into(functions) = 0
   integer :: sent(2, 0:peers) = 0, received(2, 0:peers) = 0
contains
   subroutine count_call(name, bytes_out, bytes_in)
      character(len=*), intent(in) :: name
      integer, intent(in) :: bytes_out, bytes_in
      integer :: i
      do i = 1, known
         if (names(i) == name) exit
      end do
      known = max(known, i)
      names(i) = name
      calls(i) = calls(i) + 1
      out(i) = out(i) + bytes_out
      into(i) = into(i) + bytes_in
   end subroutine
   subroutine exchange(to, from, bytes)
      integer, intent(in) :: to, from, bytes
      sent(:, to) = sent(:, to) + [1, bytes]
      received(:, from) = received(:, from) + [1, bytes]
   end subroutine
   subroutine save_counts(rank, ranks)
      integer, intent(in) :: rank, ranks
      character(len=4096) :: directory
      character(len=20) :: number
      integer :: i
      call get_command_argument(1, directory)
      write (number, '(I0)') rank
      open (10, file=trim(directory)//'/counts-'//trim(number))
      do i = 1, known
         write (10, '(3A,3(1X,I0))') 'function', ' ', trim(names(i)), calls(i), out(i), into(i)
      end do
      do i = 0, ranks - 1
         if (sent(1, i) + received(1, i) > 0) &
            write (10, '(A,5(1X,I0))') 'peer', i, sent(:, i), received(:, i)
      end do
      close (10)
   end subroutine
end module

program fortran
   use counted
#ifdef USE_MPI_F08
   use mpi_f08
#elif defined USE_MPI
   use mpi
#endif
   implicit none
#if !defined USE_MPI_F08 && !defined USE_MPI
   include 'mpif.h'
#endif
   integer, parameter :: many = 1000
   integer :: a(many), b(many), error, rank, ranks, next, before, n, i, some, index, places(4)
   integer, allocatable :: counts(:), starts(:)
   COMM :: backwards
   REQUEST :: r(4)
   DATATYPE :: pairs
   STATUS :: s
   logical :: is_done

   a = 1
   call count_call('MPI_Init', 0, 0)
   call MPI_Init(error)
   call count_call('MPI_Comm_rank', 0, 0)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   call count_call('MPI_Comm_size', 0, 0)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
   next = mod(rank + 1, ranks)
   before = mod(rank + ranks - 1, ranks)
   n = 1
   do while (n < many/2)
      call count_call('MPI_Irecv', 0, 4*n)
      call MPI_Irecv(b, many, MPI_INTEGER, before, 1, MPI_COMM_WORLD, r(1), error)
      call count_call('MPI_Send', 4*n, 0)
      call MPI_Send(a, n, MPI_INTEGER, next, 1, MPI_COMM_WORLD, error)
      call count_call('MPI_Wait', 0, 0)
      call MPI_Wait(r(1), s, error)
      if (SOURCE(s) /= before) call MPI_Abort(MPI_COMM_WORLD, 9, error)
      call exchange(next, before, 4*n)
      call count_call('MPI_Isend', 4*n, 0)
      call MPI_Isend(a, n, MPI_INTEGER, next, 2, MPI_COMM_WORLD, r(1), error)
      call count_call('MPI_Recv', 0, 4*n)
      call MPI_Recv(b, many, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call count_call('MPI_Wait', 0, 0)
      call MPI_Wait(r(1), MPI_STATUS_IGNORE, error)
      call exchange(next, before, 4*n)
      call count_call('MPI_Sendrecv', 4*n, 4*n)
      call MPI_Sendrecv(a, n, MPI_INTEGER, next, 3, b, many, MPI_INTEGER, before, 3, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call exchange(next, before, 4*n)
      ! The ways to complete several: indices begin with 1.
      do i = 1, 4
         call count_call('MPI_Irecv', 0, 8*n)
         call MPI_Irecv(b, many, MPI_INTEGER, before, 4, MPI_COMM_WORLD, r(1), error)
         call count_call('MPI_Isend', 8*n, 0)
         call MPI_Isend(a, n, MPI_DOUBLE_PRECISION, next, 4, MPI_COMM_WORLD, r(2), error)
         call exchange(next, before, 8*n)
         select case (i)
         case (1)
            call count_call('MPI_Waitall', 0, 0)
            call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, error)
         case (2)
            call count_call('MPI_Waitany', 0, 0)
            call MPI_Waitany(2, r, index, s, error)
            call count_call('MPI_Waitany', 0, 0)
            call MPI_Waitany(2, r, index, MPI_STATUS_IGNORE, error)
         case (3)
            some = 0
            do while (some < 2)
               call count_call('MPI_Waitsome', 0, 0)
               call MPI_Waitsome(2, r, index, places, MPI_STATUSES_IGNORE, error)
               some = some + index
            end do
         case (4)
            is_done = .false.
            do while (.not. is_done)
               call count_call('MPI_Testall', 0, 0)
               call MPI_Testall(2, r, is_done, MPI_STATUSES_IGNORE, error)
            end do
         end select
      end do
      n = 3*n
   end do
   call count_call('MPI_Send', 0, 0)
   call MPI_Send(a, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, error)
   ! Persistent requests.
   call count_call('MPI_Send_init', 0, 0)
   call MPI_Send_init(a, 5, MPI_INTEGER, next, 5, MPI_COMM_WORLD, r(1), error)
   call count_call('MPI_Recv_init', 0, 0)
   call MPI_Recv_init(b, many, MPI_INTEGER, before, 5, MPI_COMM_WORLD, r(2), error)
   do i = 1, 3
      call count_call('MPI_Startall', 20, 20)
      call MPI_Startall(2, r, error)
      call count_call('MPI_Waitall', 0, 0)
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, error)
      call exchange(next, before, 20)
   end do
   do i = 1, 2
      call count_call('MPI_Request_free', 0, 0)
      call MPI_Request_free(r(i), error)
   end do
   ! Collective operations, with MPI_IN_PLACE, which is not the same address as in C.
   call count_call('MPI_Barrier', 0, 0)
   call MPI_Barrier(MPI_COMM_WORLD, error)
   call count_call('MPI_Bcast', merge(40, 0, rank == 0), merge(0, 40, rank == 0))
   call MPI_Bcast(a, 10, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
   call count_call('MPI_Allreduce', 40, 40)
   call MPI_Allreduce(a, b, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
   call count_call('MPI_Allreduce', 40, 40)
   call MPI_Allreduce(MPI_IN_PLACE, b, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
   call count_call('MPI_Reduce', 40, merge(40, 0, rank == 0))
   call MPI_Reduce(a, b, 10, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
   call count_call('MPI_Allgather', 8, 8*ranks)
   call MPI_Allgather(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, MPI_COMM_WORLD, error)
   call count_call('MPI_Allgather', 8, 8*ranks)
   call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, b, 2, MPI_INTEGER, MPI_COMM_WORLD, error)
   call count_call('MPI_Alltoall', 8*ranks, 8*ranks)
   call MPI_Alltoall(a, 2, MPI_INTEGER, b, 2, MPI_INTEGER, MPI_COMM_WORLD, error)
   call count_call('MPI_Alltoall', 8*ranks, 8*ranks)
   call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, b, 2, MPI_INTEGER, MPI_COMM_WORLD, error)
   allocate (counts(ranks), starts(ranks))
   counts = [(i, i = 1, ranks)]
   starts = [(i*(i - 1)/2, i = 1, ranks)]
   call count_call('MPI_Allgatherv', 4*(rank + 1), 2*ranks*(ranks + 1))
   call MPI_Allgatherv(a, rank + 1, MPI_INTEGER, b, counts, starts, MPI_INTEGER, MPI_COMM_WORLD, &
                       error)
   call count_call('MPI_Iallreduce', 40, 40)
   call MPI_Iallreduce(a, b, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(1), error)
   call count_call('MPI_Wait', 0, 0)
   call MPI_Wait(r(1), MPI_STATUS_IGNORE, error)
   ! Another datatype, and the ranks of another communicator.
   call count_call('MPI_Type_vector', 0, 0)
   call MPI_Type_vector(10, 2, 4, MPI_INTEGER, pairs, error)
   call count_call('MPI_Type_commit', 0, 0)
   call MPI_Type_commit(pairs, error)
   call count_call('MPI_Comm_split', 0, 0)
   call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, backwards, error)
   call count_call('MPI_Sendrecv', 80, 80)
   call MPI_Sendrecv(a, 1, pairs, mod(ranks - rank, ranks), 6, b, many, MPI_INTEGER, &
                     mod(2*ranks - rank - 2, ranks), 6, backwards, s, error)
   call exchange(before, next, 80)
   call count_call('MPI_Comm_free', 0, 0)
   call MPI_Comm_free(backwards, error)
   call count_call('MPI_Type_free', 0, 0)
   call MPI_Type_free(pairs, error)
   call save_counts(rank, ranks)
   call MPI_Finalize(error)
end program
