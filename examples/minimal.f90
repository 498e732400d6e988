! SPDX-License-Identifier: BSD-3-Clause
! minimal.f90: write one dataset with a bound on its error and read it back.
!
!     h5fc -shlib minimal.f90 -o minimal_f90
!     ./minimal_f90
!
! HDF5_PLUGIN_PATH names the folder of the plugins. Without -shlib HDF5 would be linked into the program, which
! could then not write: docs/pages/recipes/c.md.
program minimal
   use hdf5
   implicit none
   integer, parameter :: rows = 512, columns = 768, lattice = 486
   double precision, parameter :: bound = 1.0d-3
   real :: field(columns, rows), decoded(columns, rows)
   integer :: words(3), i, j, error
   integer(hid_t) :: file, space, dcpl, dataset
   integer(hsize_t) :: dims(2) = [columns, rows], chunk(2) = [256, 256], stored
   double precision :: largest

   do j = 1, rows
      do i = 1, columns
         field(i, j) = real(sin(0.02d0*j)*cos(0.03d0*i))
      end do
   end do

   call h5open_f(error)
   call h5fcreate_f('minimal_f90.h5', H5F_ACC_TRUNC_F, file, error)
   call h5screate_simple_f(2, dims, space, error)
   call h5pcreate_f(H5P_DATASET_CREATE_F, dcpl, error)
   call h5pset_chunk_f(dcpl, 2, chunk, error)
   words(1) = 1                               ! an absolute bound, and its two words, low one first
   words(2:3) = transfer(bound, words(2:3))
   call h5pset_filter_f(dcpl, lattice, 0, 3_size_t, words, error)
   call h5dcreate_f(file, 'field', H5T_IEEE_F32LE, space, dataset, error, dcpl)
   if (error < 0) error stop 'minimal: HDF5 says why above; is HDF5_PLUGIN_PATH set?'
   call h5dwrite_f(dataset, H5T_NATIVE_REAL, field, dims, error)
   call h5dread_f(dataset, H5T_NATIVE_REAL, decoded, dims, error)
   if (error < 0) error stop 'minimal: HDF5 says why above'

   largest = maxval(abs(dble(decoded) - dble(field)))
   call h5fflush_f(file, H5F_SCOPE_LOCAL_F, error)
   call h5dget_storage_size_f(dataset, stored, error)
   write (*, '(a,f0.1,a,es10.3,a,es10.3)') 'minimal_f90.h5: ratio ', real(4*size(field))/real(stored), &
      ', largest error', largest, ' of', bound
   if (largest > bound) error stop 'the bound is exceeded'
   call h5dclose_f(dataset, error)
   call h5pclose_f(dcpl, error)
   call h5sclose_f(space, error)
   call h5fclose_f(file, error)
end program
