//! Where the keeper is, and the token that it asks for.

use std::fmt;
use std::net::SocketAddr;

/// The variable by which ranks get their invitation.
pub const VARIABLE: &str = "TINYPROF_ROLL_CALL";

/// The place of the keeper of a roll, and the token that it asks for. Shown as the value of
/// [`VARIABLE`]: `TOKEN@ADDRESS:PORT,...`, without spaces and semicolons, which launchers would
/// take for ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    token: String,
    addresses: Vec<SocketAddr>,
}

impl Invitation {
    /// Makes an invitation. The addresses are those of one keeper, the likeliest to be reached
    /// first. Characters of the token that could not be sent are left out.
    #[must_use]
    pub fn new(token: &str, addresses: Vec<SocketAddr>) -> Self {
        let token = token.chars().filter(char::is_ascii_alphanumeric).collect();
        Self { token, addresses }
    }

    /// Reads the value of the variable. `None` if it is not one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (token, addresses) = text.split_once('@')?;
        let addresses: Result<Vec<SocketAddr>, _> = addresses.split(',').map(str::parse).collect();
        let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_token.then(|| Some(Self { token: token.to_owned(), addresses: addresses.ok()? }))?
    }

    /// Returns the token.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Returns the addresses of the keeper.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

impl fmt::Display for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@", self.token)?;
        for (number, address) in self.addresses.iter().enumerate() {
            let separator = if number == 0 { "" } else { "," };
            write!(f, "{separator}{address}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invitation_is_read_as_it_is_shown() {
        let addresses = ["10.0.0.1:4000", "[fd00::1]:4001"].map(|a| a.parse().expect("an address"));
        let invitation = Invitation::new("0f 3;a", addresses.to_vec());
        assert_eq!(invitation.to_string(), "0f3a@10.0.0.1:4000,[fd00::1]:4001");
        assert_eq!(Invitation::parse(&invitation.to_string()), Some(invitation));
        for text in ["", "@1.1.1.1:1", "a@", "a@x", "a b@1.1.1.1:1", "a@1.1.1.1:1,", "1.1.1.1:1"] {
            assert_eq!(Invitation::parse(text), None, "{text}");
        }
    }
}
