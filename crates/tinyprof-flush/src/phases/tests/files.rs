//! Tests of the permissions of a profile's files, and of how its ranks recognise it.

use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;

use tinyprof_format::file::read_manifest;
use tinyprof_format::model::ProfileId;

use super::*;

#[test]
fn each_rank_writes_files_of_the_permissions_that_it_is_told() {
    let ranks: Vec<_> = (0..4).map(|r| rank(r, &[0, 1, 2], 3, 2)).collect();
    let scratch = tempfile::tempdir().unwrap();
    std::fs::write(scratch.path().join("file"), "").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let usual = mode(&scratch.path().join("file"));
    virtual_ranks::run(4, |communicator| {
        let number = communicator.rank();
        let permissions = if number == 2 { Permissions::Umask } else { Permissions::Private };
        let plan = Plan { permissions, ..plan(scratch.path(), Some(2), UNLIMITED) };
        let map = &ranks[number as usize];
        async move { flush_map(&communicator, map, &plan).await.unwrap() }
    });
    let path = scratch.path().join("p.tprof");
    let modes =
        ["", "manifest.json", "callpaths", "part-00000", "part-00001"].map(|f| mode(&path.join(f)));
    assert_eq!(modes, [0o700, 0o600, 0o600, 0o600, usual]);
}

#[test]
fn every_rank_is_told_the_number_of_the_profile_before_it_is_complete() {
    static TOLD: Mutex<Vec<ProfileId>> = Mutex::new(Vec::new());
    let ranks: Vec<_> = (0..9).map(|r| rank(r, &[0, 1, 2], 3, 2)).collect();
    let scratch = tempfile::tempdir().unwrap();
    let flush_with = |id_of: &dyn Fn(u32) -> Option<ProfileId>| {
        virtual_ranks::run(9, |communicator| {
            let number = communicator.rank();
            let state = RunState { profile_id: id_of(number), ..RunState::default() };
            let on_profile_id = |id, _: &Path| TOLD.lock().unwrap().push(id);
            let plan = Plan { state, on_profile_id, ..plan(scratch.path(), Some(2), 5) };
            let map = &ranks[number as usize];
            async move { flush_map(&communicator, map, &plan).await.unwrap() }
        });
        std::mem::take(&mut *TOLD.lock().unwrap())
    };
    let of_rank_0 = ProfileId::of(&[0]);
    let told = flush_with(&|rank| Some(ProfileId::of(&[rank.into()])));
    assert_eq!(told, [of_rank_0; 9]);
    assert_eq!(read_manifest(&scratch.path().join("p.tprof")).unwrap().profile_id, Some(of_rank_0));
    // An interim profile has no number.
    assert_eq!(flush_with(&|_| None), []);
    assert_eq!(read_manifest(&scratch.path().join("p-1.tprof")).unwrap().profile_id, None);
}
