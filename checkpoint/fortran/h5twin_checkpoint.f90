! SPDX-License-Identifier: BSD-3-Clause
! h5twin_checkpoint.f90: the module h5twin_checkpoint: checkpoints of a simulation, of which the newest complete one is never
! lost. include/h5twin_checkpoint.h says what is promised; this calls it.
!
!     type(checkpoints_t) :: checkpoints
!     type(checkpoint_info_t) :: found
!     call checkpoints%open('out', error, keep=3, every_steps=100_int64)
!     call checkpoints%restart(found, error)
!     if (error == 0) then
!        call checkpoints%read('flow/u', u, error)
!        call checkpoints%restart_end()
!     end if
!     do while (...)
!        if (checkpoints%is_due(step)) then
!           call checkpoints%begin(step, time, error)
!           call checkpoints%write('flow/u', u, error)
!           call checkpoints%commit(error)
!           if (error < 0) print *, checkpoints%message()      ! and go on
!        end if
!     end do
!     call checkpoints%close(error)
!
! error is 0, checkpoint_none (1) where there is no such thing, or negative after a failure; then message() has one sentence.
! Fields are arrays of any rank up to 8, of real32, real64, int8, int16, int32 or int64; a section that is not contiguous is
! copied. Extents and offsets are in Fortran's order, fastest first, and offsets count from 0; in the file, as for all that is
! not Fortran, the order is the other one. Of a team (h5twin_checkpoint_mpi.f90) all calls are collective but those that read
! fields and attributes: after a failure of write go on to commit, which then fails in all processes.
module h5twin_checkpoint
   use, intrinsic :: iso_c_binding
   implicit none
   private

   public :: checkpoints_t, checkpoint_info_t, checkpoint_team_t
   integer, parameter, public :: checkpoint_none = 1, checkpoint_failed = -1
   integer, parameter, public :: checkpoint_f32 = 1, checkpoint_f64 = 2, checkpoint_i8 = 3, checkpoint_i16 = 4, &
      checkpoint_i32 = 5, checkpoint_i64 = 6, checkpoint_u8 = 7, checkpoint_u16 = 8, checkpoint_u32 = 9, checkpoint_u64 = 10

   integer, parameter :: max_rank = 8, text_size = 1024

   type, bind(c) :: checkpoint_info_t
      integer(c_int64_t) :: serial = 0, step = 0
      real(c_double) :: time = 0
      integer(c_int64_t) :: size = 0   ! bytes of its files
      integer(c_int64_t), private :: reserved(4) = 0
   end type

   ! struct h5twin_checkpoint_team
   type, bind(c) :: checkpoint_team_t
      integer(c_int) :: rank = 0, size = 1
      type(c_ptr) :: context = c_null_ptr
      type(c_funptr) :: maximum = c_null_funptr, broadcast = c_null_funptr, gather = c_null_funptr, release = c_null_funptr
      integer(c_int64_t), private :: reserved(4) = 0
   end type

   type, bind(c) :: options_t
      integer(c_size_t) :: size
      type(c_ptr) :: name
      integer(c_int) :: keep
      integer(c_int64_t) :: every_steps
      real(c_double) :: every_seconds
      type(c_ptr) :: spec
      logical(c_bool) :: background, verify, xdmf, read_only
      type(c_ptr) :: team, policy
   end type

   type, bind(c) :: field_t
      type(c_ptr) :: name = c_null_ptr
      integer(c_int) :: type = 0
      integer(c_int32_t) :: rank = 0
      type(c_ptr) :: dims = c_null_ptr, offset = c_null_ptr, count = c_null_ptr
      type(c_ptr) :: memory_dims = c_null_ptr, memory_offset = c_null_ptr, values = c_null_ptr, spec = c_null_ptr
      logical(c_bool) :: may_lose = .false.
      type(c_ptr) :: origin = c_null_ptr, spacing = c_null_ptr
      integer(c_int64_t) :: reserved(4) = 0
   end type

   type :: checkpoints_t
      private
      type(c_ptr) :: handle = c_null_ptr
   contains
      procedure, public :: open => open_folder
      procedure, public :: close => close_folder
      procedure, public :: message, is_due, begin, commit, abort => drop, wait, restart, select, restart_end, inquire => ask, &
         list, prune
      procedure, private :: write_r4, write_r8, write_i1, write_i2, write_i4, write_i8
      generic, public :: write => write_r4, write_r8, write_i1, write_i2, write_i4, write_i8
      procedure, private :: read_r4, read_r8, read_i1, read_i2, read_i4, read_i8
      generic, public :: read => read_r4, read_r8, read_i1, read_i2, read_i4, read_i8
      procedure, private :: write_text, read_text, write_number, read_number, write_whole, read_whole, write_long, read_long, &
         write_numbers, read_numbers
      generic, public :: write_attribute => write_text, write_number, write_whole, write_long, write_numbers
      generic, public :: read_attribute => read_text, read_number, read_whole, read_long, read_numbers
   end type

   interface
      subroutine c_options_init(options) bind(c, name='h5twin_checkpoint_options_init')
         import
         type(options_t), intent(inout) :: options
      end subroutine
      function c_open(handle, folder, options) bind(c, name='h5twin_checkpoint_open') result(error)
         import
         type(c_ptr), intent(out) :: handle
         character(kind=c_char), intent(in) :: folder(*)
         type(options_t), intent(in) :: options
         integer(c_int) :: error
      end function
      function c_close(handle) bind(c, name='h5twin_checkpoint_close') result(error)
         import
         type(c_ptr), value :: handle
         integer(c_int) :: error
      end function
      function c_commit(handle) bind(c, name='h5twin_checkpoint_commit') result(error)
         import
         type(c_ptr), value :: handle
         integer(c_int) :: error
      end function
      function c_wait(handle) bind(c, name='h5twin_checkpoint_wait') result(error)
         import
         type(c_ptr), value :: handle
         integer(c_int) :: error
      end function
      subroutine c_abort(handle) bind(c, name='h5twin_checkpoint_abort')
         import
         type(c_ptr), value :: handle
      end subroutine
      subroutine c_restart_end(handle) bind(c, name='h5twin_checkpoint_restart_end')
         import
         type(c_ptr), value :: handle
      end subroutine
      function c_message(handle) bind(c, name='h5twin_checkpoint_message') result(text)
         import
         type(c_ptr), value :: handle
         type(c_ptr) :: text
      end function
      function c_is_due(handle, step) bind(c, name='h5twin_checkpoint_is_due') result(is_due)
         import
         type(c_ptr), value :: handle
         integer(c_int64_t), value :: step
         logical(c_bool) :: is_due
      end function
      function c_begin(handle, step, time) bind(c, name='h5twin_checkpoint_begin') result(error)
         import
         type(c_ptr), value :: handle
         integer(c_int64_t), value :: step
         real(c_double), value :: time
         integer(c_int) :: error
      end function
      function c_write(handle, field) bind(c, name='h5twin_checkpoint_write') result(error)
         import
         type(c_ptr), value :: handle
         type(field_t), intent(in) :: field
         integer(c_int) :: error
      end function
      function c_read(handle, field) bind(c, name='h5twin_checkpoint_read') result(error)
         import
         type(c_ptr), value :: handle
         type(field_t), intent(in) :: field
         integer(c_int) :: error
      end function
      function c_write_attribute(handle, name, type, count, values) bind(c, name='h5twin_checkpoint_write_attribute') &
         result(error)
         import
         type(c_ptr), value :: handle
         character(kind=c_char), intent(in) :: name(*)
         integer(c_int), value :: type
         integer(c_size_t), value :: count
         type(c_ptr), value :: values
         integer(c_int) :: error
      end function
      function c_read_attribute(handle, name, type, count, values) bind(c, name='h5twin_checkpoint_read_attribute') &
         result(error)
         import
         type(c_ptr), value :: handle
         character(kind=c_char), intent(in) :: name(*)
         integer(c_int), value :: type
         integer(c_size_t), value :: count
         type(c_ptr), value :: values
         integer(c_int) :: error
      end function
      function c_write_text(handle, name, text) bind(c, name='h5twin_checkpoint_write_text') result(error)
         import
         type(c_ptr), value :: handle
         character(kind=c_char), intent(in) :: name(*), text(*)
         integer(c_int) :: error
      end function
      function c_read_text(handle, name, text, capacity) bind(c, name='h5twin_checkpoint_read_text') result(error)
         import
         type(c_ptr), value :: handle
         character(kind=c_char), intent(in) :: name(*)
         character(kind=c_char), intent(inout) :: text(*)
         integer(c_size_t), value :: capacity
         integer(c_int) :: error
      end function
      function c_restart(handle, before, info) bind(c, name='h5twin_checkpoint_restart') result(error)
         import
         type(c_ptr), value :: handle
         integer(c_int64_t), value :: before
         type(checkpoint_info_t), intent(inout) :: info
         integer(c_int) :: error
      end function
      function c_select(handle, serial, info) bind(c, name='h5twin_checkpoint_select') result(error)
         import
         type(c_ptr), value :: handle
         integer(c_int64_t), value :: serial
         type(checkpoint_info_t), intent(inout) :: info
         integer(c_int) :: error
      end function
      function c_inquire(handle, name, type, rank, dims) bind(c, name='h5twin_checkpoint_inquire') result(error)
         import
         type(c_ptr), value :: handle
         character(kind=c_char), intent(in) :: name(*)
         integer(c_int), intent(inout) :: type
         integer(c_int32_t), intent(inout) :: rank
         integer(c_int64_t), intent(inout) :: dims(*)
         integer(c_int) :: error
      end function
      function c_list(handle, infos, capacity, count) bind(c, name='h5twin_checkpoint_list') result(error)
         import
         type(c_ptr), value :: handle
         type(checkpoint_info_t), intent(inout) :: infos(*)
         integer(c_size_t), value :: capacity
         integer(c_size_t), intent(inout) :: count
         integer(c_int) :: error
      end function
      function c_prune(handle, keep) bind(c, name='h5twin_checkpoint_prune') result(error)
         import
         type(c_ptr), value :: handle
         integer(c_int), value :: keep
         integer(c_int) :: error
      end function
      pure function c_strlen(text) bind(c, name='strlen') result(length)
         import
         type(c_ptr), value :: text
         integer(c_size_t) :: length
      end function
   end interface

contains

   ! Of C: with a zero at its end.
   pure function c_text(text) result(array)
      character(*), intent(in) :: text
      character(kind=c_char), allocatable :: array(:)
      integer :: i
      allocate (array(len(text) + 1))
      do i = 1, len(text)
         array(i) = text(i:i)
      end do
      array(len(text) + 1) = c_null_char
   end function

   ! ---- the folder ----

   ! team: see h5twin_checkpoint_mpi.f90. The meaning of all is in h5twin_checkpoint.h.
   subroutine open_folder(self, folder, error, name, keep, every_steps, every_seconds, spec, policy, background, verify, xdmf, &
                          read_only, team)
      class(checkpoints_t), intent(inout) :: self
      character(*), intent(in) :: folder
      integer, intent(out) :: error
      character(*), intent(in), optional :: name, spec, policy
      integer, intent(in), optional :: keep
      integer(c_int64_t), intent(in), optional :: every_steps
      real(c_double), intent(in), optional :: every_seconds
      logical, intent(in), optional :: background, verify, xdmf, read_only
      type(checkpoint_team_t), intent(in), target, optional :: team
      type(options_t) :: options
      character(kind=c_char), allocatable, target :: name_text(:), spec_text(:), policy_text(:)
      if (c_associated(self%handle)) call self%close(error)
      call c_options_init(options)
      if (present(name)) then
         allocate (name_text, source=c_text(name))
         options%name = c_loc(name_text)
      end if
      if (present(spec)) then
         allocate (spec_text, source=c_text(spec))
         options%spec = c_loc(spec_text)
      end if
      if (present(policy)) then
         allocate (policy_text, source=c_text(policy))
         options%policy = c_loc(policy_text)
      end if
      if (present(keep)) options%keep = keep
      if (present(every_steps)) options%every_steps = every_steps
      if (present(every_seconds)) options%every_seconds = every_seconds
      if (present(background)) options%background = logical(background, c_bool)
      if (present(verify)) options%verify = logical(verify, c_bool)
      if (present(xdmf)) options%xdmf = logical(xdmf, c_bool)
      if (present(read_only)) options%read_only = logical(read_only, c_bool)
      if (present(team)) options%team = c_loc(team)
      error = c_open(self%handle, c_text(folder), options)
   end subroutine

   ! Waits for what is being written; its error.
   subroutine close_folder(self, error)
      class(checkpoints_t), intent(inout) :: self
      integer, intent(out) :: error
      error = c_close(self%handle)
      self%handle = c_null_ptr
   end subroutine

   ! One sentence on the last failure.
   function message(self) result(text)
      class(checkpoints_t), intent(in) :: self
      character(:), allocatable :: text
      character(kind=c_char), pointer :: letters(:)
      type(c_ptr) :: address
      integer :: i
      address = c_message(self%handle)
      call c_f_pointer(address, letters, [c_strlen(address)])
      allocate (character(size(letters)) :: text)
      do i = 1, size(letters)
         text(i:i) = letters(i)
      end do
   end function

   ! ---- write ----

   function is_due(self, step)
      class(checkpoints_t), intent(in) :: self
      integer(c_int64_t), intent(in) :: step
      logical :: is_due
      is_due = logical(c_is_due(self%handle, step))
   end function

   subroutine begin(self, step, time, error)
      class(checkpoints_t), intent(in) :: self
      integer(c_int64_t), intent(in) :: step
      real(c_double), intent(in) :: time
      integer, intent(out) :: error
      error = c_begin(self%handle, step, time)
   end subroutine

   subroutine commit(self, error)
      class(checkpoints_t), intent(in) :: self
      integer, intent(out) :: error
      error = c_commit(self%handle)
   end subroutine

   ! Drop what was begun.
   subroutine drop(self)
      class(checkpoints_t), intent(in) :: self
      call c_abort(self%handle)
   end subroutine

   subroutine wait(self, error)
      class(checkpoints_t), intent(in) :: self
      integer, intent(out) :: error
      error = c_wait(self%handle)
   end subroutine

   ! Numbers for each axis in C's order; the caller's array stays its own.
   pure function reversed(numbers) result(turned)
      integer(c_int64_t), intent(in) :: numbers(:)
      integer(c_int64_t) :: turned(max_rank)
      integer :: rank
      rank = min(size(numbers), max_rank)
      turned = 0
      turned(1:rank) = numbers(rank:1:-1)
   end function

   ! What write and read hand over. extents: of the array in memory. `is_write` chooses which.
   function transfer_field(self, is_write, name, type, values, extents, spec, may_lose, dims, offset, origin, spacing) &
      result(error)
      class(checkpoints_t), intent(in) :: self
      logical, intent(in) :: is_write
      character(*), intent(in) :: name
      integer, intent(in) :: type
      type(c_ptr), intent(in) :: values
      integer(c_int64_t), intent(in) :: extents(:)
      character(*), intent(in), optional :: spec
      logical, intent(in), optional :: may_lose
      integer(c_int64_t), intent(in), optional :: dims(:), offset(:)
      real(c_double), intent(in), optional :: origin(:), spacing(:)
      integer :: error, rank
      type(field_t) :: field
      character(kind=c_char), allocatable, target :: name_text(:), spec_text(:)
      integer(c_int64_t), target :: all(max_rank), first(max_rank), count(max_rank)
      real(c_double), target :: place(max_rank), distance(max_rank)
      rank = size(extents)
      allocate (name_text, source=c_text(name))
      field%name = c_loc(name_text)
      field%type = type
      field%rank = rank
      ! Numbers of another rank are refused by the library, in all processes of a team.
      if (present(dims)) then
         if (size(dims) /= rank) field%type = 0
      end if
      if (present(offset)) then
         if (size(offset) /= rank) field%type = 0
      end if
      count = reversed(extents)
      all = count
      first = 0
      if (present(dims)) all = reversed(dims)
      if (present(offset)) first = reversed(offset)
      field%dims = c_loc(all)
      field%count = c_loc(count)
      field%offset = c_loc(first)
      field%values = values
      if (present(spec)) then
         allocate (spec_text, source=c_text(spec))
         field%spec = c_loc(spec_text)
      end if
      if (present(may_lose)) field%may_lose = logical(may_lose, c_bool)
      if (present(origin)) then
         place(1:rank) = origin(rank:1:-1)
         field%origin = c_loc(place)
      end if
      if (present(spacing)) then
         distance(1:rank) = spacing(rank:1:-1)
         field%spacing = c_loc(distance)
      end if
      if (is_write) then
         error = c_write(self%handle, field)
      else
         error = c_read(self%handle, field)
      end if
   end function

   ! dims: of the whole field, and offset of this process's part in it, for a team. origin and spacing: for pictures. values may
   ! change after the call.
   subroutine write_r4(self, name, values, error, spec, may_lose, dims, offset, origin, spacing)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      real(c_float), intent(in), contiguous, target :: values(..)
      integer, intent(out) :: error
      character(*), intent(in), optional :: spec
      logical, intent(in), optional :: may_lose
      integer(c_int64_t), intent(in), optional :: dims(:), offset(:)
      real(c_double), intent(in), optional :: origin(:), spacing(:)
      error = transfer_field(self, .true., name, checkpoint_f32, c_loc(values), shape(values, c_int64_t), spec, may_lose, &
                             dims, offset, origin, spacing)
   end subroutine

   subroutine write_r8(self, name, values, error, spec, may_lose, dims, offset, origin, spacing)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      real(c_double), intent(in), contiguous, target :: values(..)
      integer, intent(out) :: error
      character(*), intent(in), optional :: spec
      logical, intent(in), optional :: may_lose
      integer(c_int64_t), intent(in), optional :: dims(:), offset(:)
      real(c_double), intent(in), optional :: origin(:), spacing(:)
      error = transfer_field(self, .true., name, checkpoint_f64, c_loc(values), shape(values, c_int64_t), spec, may_lose, &
                             dims, offset, origin, spacing)
   end subroutine

   subroutine write_i1(self, name, values, error, spec, may_lose, dims, offset, origin, spacing)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int8_t), intent(in), contiguous, target :: values(..)
      integer, intent(out) :: error
      character(*), intent(in), optional :: spec
      logical, intent(in), optional :: may_lose
      integer(c_int64_t), intent(in), optional :: dims(:), offset(:)
      real(c_double), intent(in), optional :: origin(:), spacing(:)
      error = transfer_field(self, .true., name, checkpoint_i8, c_loc(values), shape(values, c_int64_t), spec, may_lose, &
                             dims, offset, origin, spacing)
   end subroutine

   subroutine write_i2(self, name, values, error, spec, may_lose, dims, offset, origin, spacing)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int16_t), intent(in), contiguous, target :: values(..)
      integer, intent(out) :: error
      character(*), intent(in), optional :: spec
      logical, intent(in), optional :: may_lose
      integer(c_int64_t), intent(in), optional :: dims(:), offset(:)
      real(c_double), intent(in), optional :: origin(:), spacing(:)
      error = transfer_field(self, .true., name, checkpoint_i16, c_loc(values), shape(values, c_int64_t), spec, may_lose, &
                             dims, offset, origin, spacing)
   end subroutine

   subroutine write_i4(self, name, values, error, spec, may_lose, dims, offset, origin, spacing)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int32_t), intent(in), contiguous, target :: values(..)
      integer, intent(out) :: error
      character(*), intent(in), optional :: spec
      logical, intent(in), optional :: may_lose
      integer(c_int64_t), intent(in), optional :: dims(:), offset(:)
      real(c_double), intent(in), optional :: origin(:), spacing(:)
      error = transfer_field(self, .true., name, checkpoint_i32, c_loc(values), shape(values, c_int64_t), spec, may_lose, &
                             dims, offset, origin, spacing)
   end subroutine

   subroutine write_i8(self, name, values, error, spec, may_lose, dims, offset, origin, spacing)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int64_t), intent(in), contiguous, target :: values(..)
      integer, intent(out) :: error
      character(*), intent(in), optional :: spec
      logical, intent(in), optional :: may_lose
      integer(c_int64_t), intent(in), optional :: dims(:), offset(:)
      real(c_double), intent(in), optional :: origin(:), spacing(:)
      error = transfer_field(self, .true., name, checkpoint_i64, c_loc(values), shape(values, c_int64_t), spec, may_lose, &
                             dims, offset, origin, spacing)
   end subroutine

   ! ---- read ----

   ! Open the newest complete checkpoint, of those before a serial number if that is given.
   subroutine restart(self, info, error, before)
      class(checkpoints_t), intent(in) :: self
      type(checkpoint_info_t), intent(out) :: info
      integer, intent(out) :: error
      integer(c_int64_t), intent(in), optional :: before
      integer(c_int64_t) :: limit
      limit = 0
      if (present(before)) limit = before
      error = c_restart(self%handle, limit, info)
   end subroutine

   subroutine select(self, serial, info, error)
      class(checkpoints_t), intent(in) :: self
      integer(c_int64_t), intent(in) :: serial
      type(checkpoint_info_t), intent(out) :: info
      integer, intent(out) :: error
      error = c_select(self%handle, serial, info)
   end subroutine

   subroutine restart_end(self)
      class(checkpoints_t), intent(in) :: self
      call c_restart_end(self%handle)
   end subroutine

   ! Type (checkpoint_f64 ...) and extents of a field.
   subroutine ask(self, name, type, extents, error)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      integer, intent(out) :: type
      integer(c_int64_t), allocatable, intent(out) :: extents(:)
      integer, intent(out) :: error
      integer(c_int) :: kind
      integer(c_int32_t) :: rank
      integer(c_int64_t) :: dims(max_rank)
      kind = 0
      rank = 0
      dims = 0
      error = c_inquire(self%handle, c_text(name), kind, rank, dims)
      type = kind
      allocate (extents(rank))
      extents = dims(rank:1:-1)
   end subroutine

   ! The whole field, whose extents are those of values; or of a field of these dims the part that begins at offset.
   subroutine read_r4(self, name, values, error, dims, offset)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      real(c_float), intent(inout), contiguous, target :: values(..)
      integer, intent(out) :: error
      integer(c_int64_t), intent(in), optional :: dims(:), offset(:)
      error = transfer_field(self, .false., name, checkpoint_f32, c_loc(values), shape(values, c_int64_t), dims=dims, &
                             offset=offset)
   end subroutine

   subroutine read_r8(self, name, values, error, dims, offset)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      real(c_double), intent(inout), contiguous, target :: values(..)
      integer, intent(out) :: error
      integer(c_int64_t), intent(in), optional :: dims(:), offset(:)
      error = transfer_field(self, .false., name, checkpoint_f64, c_loc(values), shape(values, c_int64_t), dims=dims, &
                             offset=offset)
   end subroutine

   subroutine read_i1(self, name, values, error, dims, offset)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int8_t), intent(inout), contiguous, target :: values(..)
      integer, intent(out) :: error
      integer(c_int64_t), intent(in), optional :: dims(:), offset(:)
      error = transfer_field(self, .false., name, checkpoint_i8, c_loc(values), shape(values, c_int64_t), dims=dims, &
                             offset=offset)
   end subroutine

   subroutine read_i2(self, name, values, error, dims, offset)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int16_t), intent(inout), contiguous, target :: values(..)
      integer, intent(out) :: error
      integer(c_int64_t), intent(in), optional :: dims(:), offset(:)
      error = transfer_field(self, .false., name, checkpoint_i16, c_loc(values), shape(values, c_int64_t), dims=dims, &
                             offset=offset)
   end subroutine

   subroutine read_i4(self, name, values, error, dims, offset)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int32_t), intent(inout), contiguous, target :: values(..)
      integer, intent(out) :: error
      integer(c_int64_t), intent(in), optional :: dims(:), offset(:)
      error = transfer_field(self, .false., name, checkpoint_i32, c_loc(values), shape(values, c_int64_t), dims=dims, &
                             offset=offset)
   end subroutine

   subroutine read_i8(self, name, values, error, dims, offset)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int64_t), intent(inout), contiguous, target :: values(..)
      integer, intent(out) :: error
      integer(c_int64_t), intent(in), optional :: dims(:), offset(:)
      error = transfer_field(self, .false., name, checkpoint_i64, c_loc(values), shape(values, c_int64_t), dims=dims, &
                             offset=offset)
   end subroutine

   ! The complete checkpoints, newest first.
   subroutine list(self, infos, error)
      class(checkpoints_t), intent(in) :: self
      type(checkpoint_info_t), allocatable, intent(out) :: infos(:)
      integer, intent(out) :: error
      integer(c_size_t) :: capacity, found
      capacity = 16
      do
         if (allocated(infos)) deallocate (infos)
         allocate (infos(capacity))
         found = 0
         error = c_list(self%handle, infos, capacity, found)
         if (error /= 0 .or. found <= capacity) exit
         capacity = found
      end do
      infos = infos(1:min(found, capacity))
   end subroutine

   subroutine prune(self, keep, error)
      class(checkpoints_t), intent(in) :: self
      integer, intent(in) :: keep
      integer, intent(out) :: error
      error = c_prune(self%handle, keep)
   end subroutine

   ! ---- attributes ----

   subroutine write_text(self, name, text, error)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name, text
      integer, intent(out) :: error
      error = c_write_text(self%handle, c_text(name), c_text(text))
   end subroutine

   ! Blanks fill the rest, as in all of Fortran; fails if text is too short.
   subroutine read_text(self, name, text, error)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      character(*), intent(out) :: text
      integer, intent(out) :: error
      character(kind=c_char) :: letters(len(text) + 1)
      integer :: i
      text = ' '
      letters = c_null_char
      error = c_read_text(self%handle, c_text(name), letters, int(size(letters), c_size_t))
      do i = 1, len(text)
         if (error /= 0 .or. letters(i) == c_null_char) exit
         text(i:i) = letters(i)
      end do
   end subroutine

   subroutine write_number(self, name, value, error)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      real(c_double), intent(in), target :: value
      integer, intent(out) :: error
      error = c_write_attribute(self%handle, c_text(name), checkpoint_f64, 1_c_size_t, c_loc(value))
   end subroutine

   subroutine read_number(self, name, value, error)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      real(c_double), intent(inout), target :: value
      integer, intent(out) :: error
      error = c_read_attribute(self%handle, c_text(name), checkpoint_f64, 1_c_size_t, c_loc(value))
   end subroutine

   subroutine write_whole(self, name, value, error)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int32_t), intent(in), target :: value
      integer, intent(out) :: error
      error = c_write_attribute(self%handle, c_text(name), checkpoint_i32, 1_c_size_t, c_loc(value))
   end subroutine

   subroutine read_whole(self, name, value, error)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int32_t), intent(inout), target :: value
      integer, intent(out) :: error
      error = c_read_attribute(self%handle, c_text(name), checkpoint_i32, 1_c_size_t, c_loc(value))
   end subroutine

   subroutine write_long(self, name, value, error)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int64_t), intent(in), target :: value
      integer, intent(out) :: error
      error = c_write_attribute(self%handle, c_text(name), checkpoint_i64, 1_c_size_t, c_loc(value))
   end subroutine

   subroutine read_long(self, name, value, error)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      integer(c_int64_t), intent(inout), target :: value
      integer, intent(out) :: error
      error = c_read_attribute(self%handle, c_text(name), checkpoint_i64, 1_c_size_t, c_loc(value))
   end subroutine

   subroutine write_numbers(self, name, value, error)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      real(c_double), intent(in), contiguous, target :: value(:)
      integer, intent(out) :: error
      error = c_write_attribute(self%handle, c_text(name), checkpoint_f64, size(value, kind=c_size_t), c_loc(value))
   end subroutine

   subroutine read_numbers(self, name, value, error)
      class(checkpoints_t), intent(in) :: self
      character(*), intent(in) :: name
      real(c_double), intent(inout), contiguous, target :: value(:)
      integer, intent(out) :: error
      error = c_read_attribute(self%handle, c_text(name), checkpoint_f64, size(value, kind=c_size_t), c_loc(value))
   end subroutine
end module
