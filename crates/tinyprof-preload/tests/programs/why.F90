! Faults of programs in Fortran, for the suite of `tinyprof why`: see why.c. A comment `place: NAME`
! marks the line that a finding has to name.
program why
   use mpi
   use, intrinsic :: iso_c_binding, only: c_int
   implicit none
   interface
      integer(c_int) function usleep(us) bind(c)
         import :: c_int
         integer(c_int), value :: us
      end function
   end interface
   integer, parameter :: unit_us = 4000
   character(len=32) :: name, text
   integer :: rank, ranks, steps, step, error
   double precision :: in(4), out(4)

   call get_command_argument(1, name)
   call get_command_argument(2, text)
   read (text, *) steps
   in = 0
   out = 0
   call MPI_Init(error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
   call MPI_Barrier(MPI_COMM_WORLD, error)
   do step = 1, steps
      select case (name)
      case ("fortran_reduced")
         call reduce()
      case ("fortran_root")
         ! The compiler puts it here: calls in it have this line.
         call broadcast() ! place: fortran_root
      case ("fortran_healthy")
         call healthy()
      end select
   end do
   call MPI_Finalize(error)

contains

   subroutine work(units)
      integer, intent(in) :: units
      integer(c_int) :: ignored
      ignored = usleep(int(units * unit_us, c_int))
   end subroutine

   subroutine reduce()
      call work(merge(5, 1, rank == 3))
      call MPI_Allreduce(in, out, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error) ! place: fortran_reduced
   end subroutine

   subroutine broadcast()
      call work(merge(5, 1, rank == 0))
      call MPI_Bcast(in, 4, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
      call MPI_Barrier(MPI_COMM_WORLD, error)
   end subroutine

   subroutine healthy()
      call work(8)
      call MPI_Allreduce(in, out, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
   end subroutine
end program
