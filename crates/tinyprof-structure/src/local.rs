//! The functions of MPI that exchange nothing with other ranks: they ask, measure, describe or make
//! memory. They say nothing of what a program does, and no loop or phase begins with them.

/// The names of such functions, or the beginnings of their names if these end in `*`.
const LOCAL: [&str; 62] = [
    "Abort",
    "Add_error*",
    "Address",
    "Aint_*",
    "Alloc_mem",
    "Attr_*",
    "Buffer_attach",
    "Cart_coords",
    "Cart_get",
    "Cart_map",
    "Cart_rank",
    "Cart_shift",
    "Cartdim_get",
    "Comm_call_errhandler",
    "Comm_compare",
    "Comm_create_errhandler",
    "Comm_create_keyval",
    "Comm_delete_attr",
    "Comm_free_keyval",
    "Comm_get_*",
    "Comm_group",
    "Comm_rank",
    "Comm_remote_*",
    "Comm_set_*",
    "Comm_size",
    "Comm_test_inter",
    "Dims_create",
    "Dist_graph_neighbors*",
    "Errhandler_*",
    "Error_*",
    "File_call_errhandler",
    "File_create_errhandler",
    "File_get_*",
    "File_set_errhandler",
    "Finalized",
    "Free_mem",
    "Get_address",
    "Get_count*",
    "Get_elements*",
    "Get_hw_resource_info",
    "Get_library_version",
    "Get_processor_name",
    "Get_version",
    "Graph_*get",
    "Graph_neighbors*",
    "Graphdims_get",
    "Group_*",
    "Info_*",
    "Initialized",
    "Is_thread_main",
    "Keyval_*",
    "Op_*",
    "Pack*",
    "Pcontrol",
    "Query_thread",
    "Status_*",
    "Test_cancelled",
    "Topo_test",
    "Type_*",
    "Unpack*",
    "Wtick",
    "Wtime",
];

/// Returns whether a function exchanges nothing with other ranks.
pub(super) fn is_local(function: &str) -> bool {
    let name = function.strip_prefix("MPI_").unwrap_or(function);
    let is_match = |pattern: &&str| match pattern.split_once('*') {
        Some((start, end)) => name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
        None => name == *pattern,
    };
    LOCAL.iter().any(is_match)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_descriptions_are_local_and_what_may_communicate_is_not() {
        for function in ["MPI_Comm_rank", "MPI_Wtime", "MPI_Type_commit", "MPI_Get_count"] {
            assert!(is_local(function), "{function}");
        }
        for function in [
            "MPI_Irecv",
            "MPI_Get",
            "MPI_Comm_dup",
            "MPI_Comm_split",
            "MPI_Get_accumulate",
            "MPI_Init",
        ] {
            assert!(!is_local(function), "{function}");
        }
    }
}
