//! Unites values along a binomial tree: log P rounds, and no rank holds more than the union.

use crate::communicator::Communicator;

/// How values are sent, and how two become one.
pub(super) trait Reduction {
    /// What is reduced.
    type Value;

    fn encode(&self, value: &Self::Value) -> Vec<u8>;

    /// Adds a value of members that come after ours. There is no way to fail: what cannot be read must be noted
    /// in the value.
    fn absorb(&self, value: &mut Self::Value, later: &[u8]);
}

/// Reduces the values of `members` members of a communicator in their order, onto the first.
///
/// `position` is the caller's among them, `rank_of` tells the rank at a position. Returns the result at position
/// 0 and nothing elsewhere. Collective over the members.
pub(super) async fn reduce<R: Reduction>(
    communicator: &impl Communicator,
    members: u32,
    position: u32,
    rank_of: impl Fn(u32) -> u32,
    mut value: R::Value,
    how: &R,
) -> Option<R::Value> {
    let mut distance = 1;
    while distance < members {
        if position & distance != 0 {
            communicator.send(rank_of(position - distance), &how.encode(&value)).await;
            return None;
        }
        // Our value stands for positions [position, position + distance), the sender's for the next as many:
        // members stay in order.
        if let Some(from) = position.checked_add(distance).filter(|&from| from < members) {
            how.absorb(&mut value, &communicator.receive(rank_of(from)).await);
        }
        distance *= 2;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::virtual_ranks;

    struct Concatenation;

    impl Reduction for Concatenation {
        type Value = Vec<u8>;

        fn encode(&self, value: &Vec<u8>) -> Vec<u8> {
            value.clone()
        }

        fn absorb(&self, value: &mut Vec<u8>, later: &[u8]) {
            value.extend(later);
        }
    }

    #[test]
    fn members_are_united_in_their_order() {
        for members in 1..40_u8 {
            let results = virtual_ranks::run(u32::from(members) * 2, |c| async move {
                let position = c.rank() / 2;
                if c.rank() % 2 == 1 {
                    return None;
                }
                let own = vec![u8::try_from(position).unwrap()];
                reduce(&c, u32::from(members), position, |p| p * 2, own, &Concatenation).await
            });
            assert_eq!(results[0], Some((0..members).collect()));
            assert!(results[1..].iter().all(Option::is_none));
        }
    }
}
