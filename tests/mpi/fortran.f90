! A device buffer that is sent before its kernel has finished, by Fortran's mpi_f08: fortran [racy].
program fortran
    use, intrinsic :: iso_c_binding
    use mpi_f08
    implicit none
    interface
        integer(c_int) function cudaMalloc(memory, bytes) bind(c, name="cudaMalloc")
            import
            type(c_ptr) :: memory
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function cudaDeviceSynchronize() bind(c, name="cudaDeviceSynchronize")
            import
        end function
        subroutine launch_fill(p, n, value, stream) bind(c)
            import
            type(c_ptr), value :: p, stream
            integer(c_int), value :: n
            real(c_float), value :: value
        end subroutine
    end interface
    integer, parameter :: n = 256
    integer :: rank, code
    type(c_ptr) :: memory
    real(c_float), pointer :: p(:)
    type(MPI_Request) :: request
    type(MPI_Status) :: status

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    code = cudaMalloc(memory, int(4 * n, c_size_t))
    call c_f_pointer(memory, p, [n])
    if (rank == 0) then
        call launch_fill(memory, n, 2.0, c_null_ptr)
        if (command_argument_count() == 0) code = cudaDeviceSynchronize()
        call MPI_Send(p, n, MPI_REAL, 1, 3, MPI_COMM_WORLD)
    else if (rank == 1) then
        call MPI_Irecv(p, n, MPI_REAL, 0, 3, MPI_COMM_WORLD, request)
        if (command_argument_count() == 0) call MPI_Wait(request, status)
        call launch_fill(memory, n, 1.0, c_null_ptr)
        if (command_argument_count() > 0) call MPI_Wait(request, status)
    end if
    code = cudaDeviceSynchronize()
    call MPI_Finalize()
    if (rank == 0) print '(a)', 'right'
end program
