//! A reduction of values along a binomial tree: log P rounds, and no rank holds more than the
//! union.

use crate::communicator::{Communicator, Interrupted};

/// A reduction: how a value is sent to another rank, and how two values are combined.
pub(super) trait Reduction {
    /// The type of the reduced values.
    type Value;

    /// Sends the value to `rank`, which absorbs it.
    async fn hand_over(
        &self,
        to: &impl Communicator,
        rank: u32,
        value: Self::Value,
    ) -> Result<(), Interrupted>;

    /// Adds the value that `rank` hands over, which is of members after ours. A value that cannot
    /// be read must be noted in the result.
    async fn absorb(
        &self,
        from: &impl Communicator,
        rank: u32,
        value: &mut Self::Value,
    ) -> Result<(), Interrupted>;
}

/// Reduces the values of `members` members of a communicator in their order, onto the first.
///
/// `position` is the caller's among them, and `rank_of` returns the rank at a position. Returns the
/// result at position 0 and nothing elsewhere. Collective over the members.
pub(super) async fn reduce<R: Reduction>(
    communicator: &impl Communicator,
    members: u32,
    position: u32,
    rank_of: impl Fn(u32) -> u32,
    mut value: R::Value,
    how: &R,
) -> Result<Option<R::Value>, Interrupted> {
    let mut distance = 1;
    while distance < members {
        if position & distance != 0 {
            how.hand_over(communicator, rank_of(position - distance), value).await?;
            return Ok(None);
        }
        // Our value covers the positions [position, position + distance), and the sender's the next
        // `distance`, so members stay in order.
        if let Some(from) = position.checked_add(distance).filter(|&from| from < members) {
            how.absorb(communicator, rank_of(from), &mut value).await?;
        }
        distance = match distance.checked_mul(2) {
            Some(distance) => distance,
            None => break,
        };
    }
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::virtual_ranks;
    use crate::phases::chunks;

    struct Concatenation;

    impl Reduction for Concatenation {
        type Value = Vec<u8>;

        async fn hand_over(
            &self,
            to: &impl Communicator,
            rank: u32,
            value: Vec<u8>,
        ) -> Result<(), Interrupted> {
            chunks::send(to, rank, &value, 7).await
        }

        async fn absorb(
            &self,
            from: &impl Communicator,
            rank: u32,
            value: &mut Vec<u8>,
        ) -> Result<(), Interrupted> {
            value.extend(chunks::receive(from, rank, 7).await?);
            Ok(())
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
                reduce(&c, u32::from(members), position, |p| p * 2, own, &Concatenation)
                    .await
                    .unwrap()
            });
            assert_eq!(results[0], Some((0..members).collect()));
            assert!(results[1..].iter().all(Option::is_none));
        }
    }
}
