//! Tests of what counts as a wrapper.

use super::*;

fn is_wrapper(name: &str, called: &str) -> bool {
    Wrappers::default().is_wrapper(name, called)
}

#[test]
fn a_wrapper_has_the_name_of_what_it_calls() {
    for (name, called) in [
        ("hypre_MPI_Isend", "MPI_Isend"),
        ("mpi_send_wrapper_", "MPI_Send"),
        ("mpiAllReduce", "MPI_Allreduce"),
        ("comm_allreduce_sum_r8_", "MPI_Allreduce"),
        ("__parallel_MOD_par_bcast_real_2d", "MPI_Bcast"),
        ("my_broadcast", "MPI_Bcast"),
        ("p_sendrecv_dp", "MPI_Sendrecv_replace"),
        ("CommSendReceive", "MPI_Sendrecv"),
        ("all_to_all", "MPI_Alltoallv"),
        ("addIntParallel", "MPI_Allreduce"),
        ("minRankDoubleParallel", "MPI_Allreduce"),
        ("global_sum_dp_", "MPI_Reduce"),
        ("comm_barrier.constprop.0", "MPI_Barrier"),
        ("__plib_module_MOD_glmax_d_1d", "MPI_Allreduce"),
        ("__plib_module_MOD_tests", "MPI_Test"),
        ("__plib_module_MOD_psend_d_2d", "MPI_Send"),
        ("__clover_module_MOD_clover_min", "MPI_Allreduce"),
        ("__clover_module_MOD_clover_allgather", "MPI_Allgather"),
        ("gsum_", "MPI_Allreduce"),
        ("mpl::irequest mpl::impl::base_communicator::isend<double>(int) const", "MPI_Isend"),
        ("_ZN8Parallel12Communicator7waitallEv", "MPI_Waitall"),
        ("_ZNK3MPI4Comm4SendEPKviRKNS_8DatatypeEii", "MPI_Send"),
        ("_ZN5boost3mpi6detail9send_implIiEEvRKNS0_12communicatorEiiPKT_i", "MPI_Send"),
        ("boost::mpi::communicator::array_send_impl<double>(int, int) const", "MPI_Send"),
        ("Parallel::Communicator::isend(void*, int)", "MPI_Isend"),
        ("mpi::environment::initialize_with_threading::{{closure}}", "MPI_Init_thread"),
        ("_ZN3mpi11environment10initialize17h0123456789abcdefE", "MPI_Init_thread"),
        ("_RNvNtCs5Lx_3mpi11environment10initialize", "MPI_Init_thread"),
        (
            "_ZN45_$LT$mpi..topology..Simple$u20$as$u20$Foo$GT$4name17h0123456789abcdefE",
            "MPI_Comm_rank",
        ),
        ("wait_with_interrupt", "MPI_Wait"),
        ("isend", "MPI_Issend"),
        ("mesh::isend", "MPI_Issend"),
        ("comm_send", "MPI_Bsend"),
        ("MCP_Test", "MPI_Test"),
        ("_Z8MCP_TestPP19ompi_request_t", "MPI_Test"),
        ("QS_All_Reduce", "MPI_Allreduce"),
        ("comm_rank", "MPI_Comm_rank"),
        ("comm_dup", "MPI_Comm_dup"),
        ("jl_comm_allreduce", "MPI_Allreduce"),
        ("comm_wait", "MPI_Waitall"),
        ("waits", "MPI_Waitsome"),
    ] {
        assert!(is_wrapper(name, called), "{name} of {called}");
    }
}

#[test]
fn a_function_of_the_program_is_none() {
    for (name, called) in [
        ("main", "MPI_Init"),
        ("exchange_halo_", "MPI_Isend"),
        ("CommSend", "MPI_Isend"),
        ("CommSend", "MPI_Waitall"),
        ("send_boundaries", "MPI_Send"),
        ("__halo_MOD_exchange", "MPI_Sendrecv"),
        ("__clover_module_MOD_clover_exchange", "MPI_Waitall"),
        ("__field_module_MOD_max_density", "MPI_Allreduce"),
        ("clover_min", "MPI_Allreduce"),
        ("Halo::halo_send(int)", "MPI_Send"),
        ("mpl::irequest_pool update<2ul, std::pair<int, int> >(mpl::comm const&)", "MPI_Isend"),
        ("plus", "MPI_Allreduce"),
        ("Unit_Test", "MPI_Test"),
        ("MCP_Test_Done", "MPI_Test"),
        ("isend", "MPI_Ssend"),
        ("work_with_wait", "MPI_Wait"),
        ("with", "MPI_Wait"),
        ("_ZN5Solver4stepEi", "MPI_Allreduce"),
        ("Solver::wait_for_all(int)", "MPI_Waitall"),
        ("compute_sum", "MPI_Allreduce"),
        ("sum", "MPI_Allreduce"),
        ("addIntParallel", "MPI_Send"),
        ("parallel_residual", "MPI_Allreduce"),
        ("data", "MPI_Send"),
        ("comm_init", "MPI_Comm_dup"),
        ("halo_comm_send", "MPI_Send"),
        ("gs_comm_exchange", "MPI_Send"),
        ("scan", "MPI_Scatter"),
        ("", "MPI_Send"),
        ("_Z", "MPI_Send"),
        ("_ZN99x", "MPI_Send"),
    ] {
        assert!(!is_wrapper(name, called), "{name} of {called}");
    }
}

#[test]
fn users_add_names_and_patterns() {
    let wrappers = Wrappers::new("*Parallel, mp_*,Halo::push,");
    for name in
        ["addIntParallel", "mp_sum_dv", "__message_passing_MOD_mp_sum_dv", "_ZN4Halo4pushEv"]
    {
        assert!(wrappers.is_wrapper(name, "MPI_Allreduce"), "{name}");
    }
    for name in ["ParallelGrid", "push", "halo"] {
        assert!(!wrappers.is_wrapper(name, "MPI_Allreduce"), "{name}");
    }
}
