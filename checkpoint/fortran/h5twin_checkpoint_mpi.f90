! SPDX-License-Identifier: BSD-3-Clause
! h5twin_checkpoint_mpi.f90: a team for h5twin_checkpoint.f90 of the processes of an MPI communicator.
!
!     type(checkpoint_team_t) :: team
!     call checkpoint_team_mpi(team, MPI_COMM_WORLD, error)
!     call checkpoints%open('out', error, team=team)
!
! Compile it with your program, by your MPI's compiler. The team has a communicator of its own, which close() frees: close before
! MPI_Finalize. MPI is called from the calling thread only.
module h5twin_checkpoint_mpi
   use, intrinsic :: iso_c_binding
   use mpi
   use h5twin_checkpoint
   implicit none
   private
   public :: checkpoint_team_mpi

contains

   ! Collective. error: 0, or MPI's.
   subroutine checkpoint_team_mpi(team, communicator, error)
      type(checkpoint_team_t), intent(out) :: team
      integer, intent(in) :: communicator
      integer, intent(out) :: error
      integer, pointer :: own
      integer :: rank, size
      allocate (own)
      call MPI_Comm_dup(communicator, own, error)
      if (error /= MPI_SUCCESS) then
         deallocate (own)
         return
      end if
      call MPI_Comm_rank(own, rank, error)
      call MPI_Comm_size(own, size, error)
      team%rank = rank
      team%size = size
      team%context = c_loc(own)
      team%maximum = c_funloc(maximum)
      team%broadcast = c_funloc(broadcast)
      team%gather = c_funloc(gather)
      team%release = c_funloc(release)
   end subroutine

   ! Numbers below 2^63, as the library's are.
   function maximum(context, values, count) bind(c) result(failed)
      type(c_ptr), value :: context, values
      integer(c_int), value :: count
      integer(c_int) :: failed
      integer, pointer :: own
      integer(c_int64_t), pointer :: numbers(:)
      integer :: error
      call c_f_pointer(context, own)
      call c_f_pointer(values, numbers, [count])
      call MPI_Allreduce(MPI_IN_PLACE, numbers, int(count), MPI_INTEGER8, MPI_MAX, own, error)
      failed = merge(0, 1, error == MPI_SUCCESS)
   end function

   function broadcast(context, bytes, count, root) bind(c) result(failed)
      type(c_ptr), value :: context, bytes
      integer(c_int), value :: count, root
      integer(c_int) :: failed
      integer, pointer :: own
      integer(c_int8_t), pointer :: room(:)
      integer :: error
      call c_f_pointer(context, own)
      call c_f_pointer(bytes, room, [count])
      call MPI_Bcast(room, int(count), MPI_BYTE, int(root), own, error)
      failed = merge(0, 1, error == MPI_SUCCESS)
   end function

   function gather(context, bytes, count, all) bind(c) result(failed)
      type(c_ptr), value :: context, bytes, all
      integer(c_int), value :: count
      integer(c_int) :: failed
      integer, pointer :: own
      integer(c_int8_t), pointer :: mine(:), everything(:)
      integer(c_int8_t), target :: nothing(1)
      integer :: error, rank, size
      call c_f_pointer(context, own)
      call c_f_pointer(bytes, mine, [count])
      call MPI_Comm_rank(own, rank, error)
      call MPI_Comm_size(own, size, error)
      everything => nothing
      if (rank == 0) call c_f_pointer(all, everything, [count*size])
      call MPI_Gather(mine, int(count), MPI_BYTE, everything, int(count), MPI_BYTE, 0, own, error)
      failed = merge(0, 1, error == MPI_SUCCESS)
   end function

   subroutine release(context) bind(c)
      type(c_ptr), value :: context
      integer, pointer :: own
      integer :: error
      call c_f_pointer(context, own)
      call MPI_Comm_free(own, error)
      deallocate (own)
   end subroutine
end module
