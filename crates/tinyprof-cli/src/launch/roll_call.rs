//! The roll call of a job on several hosts, which is held for as long as its launcher runs.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::net::{IpAddr, TcpListener};
use std::os::fd::{AsRawFd as _, RawFd};
use std::path::Path;
use std::thread;

use if_addrs::Interface;
use tinyprof_roll_call::{Invitation, Keeper};

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

/// A roll call that nobody holds yet.
#[derive(Debug)]
pub(super) struct RollCall {
    listeners: Vec<TcpListener>,
    invitation: Invitation,
}

impl RollCall {
    /// Prepares the roll call. `None` if this host has no network, on which there are no other
    /// hosts either.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn new() -> io::Result<Option<Self>> {
        let mut listeners = Vec::new();
        for address in addresses(if_addrs::get_if_addrs()?) {
            listeners.push(TcpListener::bind((address, 0))?);
        }
        if listeners.is_empty() {
            return Ok(None);
        }
        let addresses: io::Result<Vec<_>> = listeners.iter().map(TcpListener::local_addr).collect();
        let invitation = Invitation::new(&token()?, addresses?);
        Ok(Some(Self { listeners, invitation }))
    }

    /// Returns the invitation for the ranks.
    pub(super) const fn invitation(&self) -> &Invitation {
        &self.invitation
    }

    /// Returns the files that have to stay open.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        self.listeners.iter().map(|listener| listener.as_raw_fd())
    }

    /// Holds it until this process ends.
    pub(super) fn hold(self) -> Keeper {
        let keeper = Keeper::new(&self.invitation);
        for listener in self.listeners {
            let keeper = keeper.clone();
            thread::spawn(move || keeper.listen(&listener));
        }
        keeper
    }
}

/// Returns the hosts from which ranks have come; none if all of them are on this one.
pub(super) fn hosts(keeper: &Keeper) -> Vec<IpAddr> {
    let own: Vec<IpAddr> =
        if_addrs::get_if_addrs().unwrap_or_default().iter().map(Interface::ip).collect();
    let hosts = keeper.hosts();
    if hosts.iter().all(|host| own.contains(host)) { Vec::new() } else { hosts }
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
pub(super) fn token() -> io::Result<String> {
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
