//! The roll call of a job on several hosts, which is held for as long as its launcher runs.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::net::{IpAddr, TcpListener};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::{process, thread};

use if_addrs::Interface;
use tinyprof_roll_call::{Invitation, Keeper};

use crate::sys::{in_background, wait_for_end_of};

/// The beginnings of the names of commands that start the ranks of a job.
const LAUNCHERS: [&str; 8] =
    ["mpiexec", "mpirun", "orterun", "prterun", "srun", "jsrun", "aprun", "ibrun"];

/// The beginnings of the names of networks that end on their host.
const OF_ONE_HOST: [&str; 7] = ["docker", "podman", "virbr", "br-", "cni", "flannel", "cali"];

/// The most addresses at which ranks look. Each that nobody answers costs them a second.
const ADDRESSES_MAX: usize = 4;

/// Returns whether a command starts ranks of a job, perhaps on other hosts.
pub(super) fn is_launcher(command: &OsStr) -> bool {
    let name = Path::new(command).file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| LAUNCHERS.iter().any(|launcher| name.starts_with(launcher)))
}

/// Holds the roll call in a process in the background, until this process ends. Returns the
/// invitation for the ranks. `None` if this host has no network, on which there are no other hosts
/// either.
///
/// # Errors
/// If the system refuses.
pub(super) fn hold() -> io::Result<Option<Invitation>> {
    let mut listeners = Vec::new();
    for address in addresses(if_addrs::get_if_addrs()?) {
        listeners.push(TcpListener::bind((address, 0))?);
    }
    if listeners.is_empty() {
        return Ok(None);
    }
    let addresses: io::Result<Vec<_>> = listeners.iter().map(TcpListener::local_addr).collect();
    let invitation = Invitation::new(&token()?, addresses?);
    let launcher = process::id();
    let kept: Vec<_> = listeners.iter().map(|listener| listener.as_raw_fd()).collect();
    in_background(&kept, || {
        let keeper = Keeper::new(&invitation);
        for listener in listeners {
            let keeper = keeper.clone();
            thread::spawn(move || keeper.listen(&listener));
        }
        wait_for_end_of(launcher);
    })?;
    Ok(Some(invitation))
}

/// Returns the addresses at which other hosts may reach this one, the likeliest first.
fn addresses(interfaces: Vec<Interface>) -> Vec<IpAddr> {
    let is_of_one_host =
        |interface: &Interface| OF_ONE_HOST.iter().any(|name| interface.name.starts_with(name));
    let reachable = interfaces.into_iter().filter(|interface| {
        !interface.is_loopback() && !interface.is_link_local() && !is_of_one_host(interface)
    });
    let mut addresses: Vec<IpAddr> = reachable.map(|interface| interface.ip()).collect();
    addresses.sort_by_key(IpAddr::is_ipv6);
    addresses.truncate(ADDRESSES_MAX);
    addresses
}

/// Returns 128 random bits.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use if_addrs::{IfAddr, IfOperStatus, Ifv4Addr};

    use super::*;

    #[test]
    fn launchers_are_known_by_their_names() {
        for name in ["mpiexec", "/usr/bin/mpirun.openmpi", "srun", "mpiexec.hydra", "orterun"] {
            assert!(is_launcher(OsStr::new(name)), "{name}");
        }
        for name in ["./a.out", "python3", "/srun/a", ""] {
            assert!(!is_launcher(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn ranks_are_not_sent_to_networks_that_end_on_their_host() {
        let interface = |name: &str, ip: [u8; 4]| Interface {
            name: name.to_owned(),
            addr: IfAddr::V4(Ifv4Addr {
                ip: ip.into(),
                netmask: Ipv4Addr::BROADCAST,
                prefixlen: 32,
                broadcast: None,
            }),
            index: None,
            oper_status: IfOperStatus::Up,
            is_p2p: false,
        };
        let all = vec![
            interface("lo", [127, 0, 0, 1]),
            interface("docker0", [172, 17, 0, 1]),
            interface("eth0", [10, 0, 0, 7]),
            interface("eth1", [169, 254, 0, 7]),
        ];
        assert_eq!(addresses(all), [IpAddr::from([10, 0, 0, 7])]);
    }
}
