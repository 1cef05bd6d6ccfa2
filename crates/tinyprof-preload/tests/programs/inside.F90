! As inside.c, in Fortran: rank 1 computes for longer in one of two procedures.
program inside
   use mpi
   implicit none
   character(len=32) :: text
   integer :: rank, steps, step, error
   double precision :: total, value(1), sums(1)

   call get_command_argument(1, text)
   read (text, *) steps
   total = 1
   call MPI_Init(error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   call MPI_Barrier(MPI_COMM_WORLD, error)
   do step = 1, steps
      call prepare(total, 4000000)
      call relax(total, merge(16000000, 4000000, rank == 1))
      value = total
      call MPI_Allreduce(value, sums, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
   end do
   if (sums(1) < 0) print *, sums
   call MPI_Finalize(error)
end program

subroutine prepare(value, times)
   implicit none
   double precision, intent(inout) :: value
   integer, intent(in) :: times
   integer :: i
   do i = 1, times
      value = value * 0.999999d0 + 1d-6
   end do
end subroutine

subroutine relax(value, times)
   implicit none
   double precision, intent(inout) :: value
   integer, intent(in) :: times
   integer :: i
   do i = 1, times
      value = value * 0.999998d0 + 2d-6 ! place
   end do
end subroutine
