// Sessions: communicators without a world (MPI 4.0, section 11.3).
#include "case.h"

#if MPI_VERSION < 4
ALONE(sessions, 1) { SKIP("this MPI has no sessions"); }
#else

static MPI_Comm of_session(MPI_Session session, const char *set) {
    MPI_Group group;
    MPI_Comm made;
    MPI_Group_from_session_pset(session, set, &group);
    MPI_Comm_create_from_group(group, "conformance", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    MPI_Group_free(&group);
    return made;
}

static void use(MPI_Comm of) {
    int sum = -1, value = -1, own;
    MPI_Comm_rank(of, &own);
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, of);
    MPI_Sendrecv(&own, 1, MPI_INT, own, 0, &value, 1, MPI_INT, MPI_ANY_SOURCE, 0, of, MPI_STATUS_IGNORE);
    say("rank %d sum %d value %d", own, sum, value);
}

ALONE(without_a_world, 2) {
    int is_initialised = -1, sets = -1;
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Initialized(&is_initialised);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    say("initialised %d, %d sets", is_initialised, sets);
    MPI_Comm made = of_session(session, "mpi://WORLD");
    use(made);
    MPI_Comm_free(&made);
    made = of_session(session, "mpi://SELF");
    use(made);
    MPI_Comm_free(&made);
    MPI_Session_finalize(&session);
    say("null %d", session == MPI_SESSION_NULL);
}

ALONE(beside_a_world, 2) {
    MPI_Session session;
    initialise();
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Comm made = of_session(session, "mpi://WORLD");
    use(made);
    use(MPI_COMM_WORLD);
    MPI_Comm_free(&made);
    MPI_Session_finalize(&session);
    MPI_Finalize();
}

ALONE(around_a_world, 2) {
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    initialise();
    use(MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Comm made = of_session(session, "mpi://SELF");
    use(made);
    MPI_Comm_free(&made);
    MPI_Session_finalize(&session);
    say("done");
}
#endif
