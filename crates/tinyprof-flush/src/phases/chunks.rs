//! Messages of any length over a communicator whose messages are short: MPI counts bytes in an
//! `int`.
//!
//! If the receiver cannot know the length, it is sent first. The message follows in as many chunks
//! as necessary.

use crate::communicator::{Communicator, Interrupted};

/// The size of an encoded length.
const LENGTH_BYTES: usize = 8;

/// Sends a message of any length to `to`, which must [`receive`] it with the same limit.
pub(super) async fn send(
    communicator: &impl Communicator,
    to: u32,
    message: &[u8],
    chunk_bytes: usize,
) -> Result<(), Interrupted> {
    communicator.send(to, (message.len() as u64).to_le_bytes().to_vec()).await?;
    for chunk in message.chunks(chunk_bytes) {
        communicator.send(to, chunk.to_vec()).await?;
    }
    Ok(())
}

/// Receives a message that `from` [sends](send).
pub(super) async fn receive(
    communicator: &impl Communicator,
    from: u32,
    chunk_bytes: usize,
) -> Result<Vec<u8>, Interrupted> {
    let length = length_of(&communicator.receive(from, LENGTH_BYTES).await?);
    if (1..=chunk_bytes).contains(&length) {
        return communicator.receive(from, length).await;
    }
    let mut message = communicator.room(length)?;
    while message.len() < length {
        message.extend(communicator.receive(from, chunk_bytes.min(length - message.len())).await?);
    }
    Ok(message)
}

/// Returns the message of rank 0 on every rank; the values that the others pass do not matter.
/// Collective.
pub(super) async fn broadcast(
    communicator: &impl Communicator,
    message: Vec<u8>,
    chunk_bytes: usize,
) -> Result<Vec<u8>, Interrupted> {
    let length = (message.len() as u64).to_le_bytes().to_vec();
    let length = length_of(&communicator.broadcast(length).await?);
    if length <= chunk_bytes {
        let message =
            if communicator.rank() == 0 { message } else { zeroed(communicator, length)? };
        return if length == 0 { Ok(message) } else { communicator.broadcast(message).await };
    }
    let mut whole = communicator.room(length)?;
    while whole.len() < length {
        let end = length.min(whole.len() + chunk_bytes);
        let chunk = match message.get(whole.len()..end) {
            Some(own) if communicator.rank() == 0 => own.to_vec(),
            _ => zeroed(communicator, end - whole.len())?,
        };
        whole.extend(communicator.broadcast(chunk).await?);
    }
    Ok(whole)
}

/// Returns the messages of all ranks, rank by rank, on rank 0, and nothing elsewhere. Rank 0 knows
/// all lengths, the others pass none. All know the longest, which determines the number of rounds;
/// in each round no rank sends more than a chunk. Collective.
pub(super) async fn gather(
    communicator: &impl Communicator,
    message: Vec<u8>,
    lengths: &[usize],
    longest: usize,
    chunk_bytes: usize,
) -> Result<Vec<Vec<u8>>, Interrupted> {
    if (1..=chunk_bytes).contains(&longest) {
        return communicator.gather(message, lengths).await;
    }
    let gathered: Result<Vec<_>, _> =
        lengths.iter().map(|&length| communicator.room(length)).collect();
    let mut gathered = gathered?;
    for start in (0..longest).step_by(chunk_bytes) {
        let part = |length: usize| start.min(length)..length.min(start + chunk_bytes);
        let parts: Vec<usize> = lengths.iter().map(|&length| part(length).len()).collect();
        let chunks = communicator.gather(message[part(message.len())].to_vec(), &parts).await?;
        gathered.iter_mut().zip(chunks).for_each(|(whole, chunk)| whole.extend(chunk));
    }
    Ok(gathered)
}

fn zeroed(communicator: &impl Communicator, length: usize) -> Result<Vec<u8>, Interrupted> {
    let mut message = communicator.room(length)?;
    message.resize(length, 0);
    Ok(message)
}

fn length_of(bytes: &[u8]) -> usize {
    let length = bytes.try_into().map(u64::from_le_bytes).unwrap_or_default();
    usize::try_from(length).expect("the rank that has this message holds it in memory")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::virtual_ranks::{self, Sent};

    #[test]
    fn what_differs_in_length_is_gathered_in_as_many_rounds_as_the_longest_needs() {
        for limit in [1, 3, 6, 100] {
            let (results, sent) = virtual_ranks::run_counted(4, |c| async move {
                // Rank 1 sends nothing.
                let messages = [vec![0; 2], Vec::new(), vec![2; 6], vec![3; 4]];
                let lengths = if c.rank() == 0 {
                    messages.iter().map(Vec::len).collect()
                } else {
                    Vec::new()
                };
                let own = messages[c.rank() as usize].clone();
                let gathered = gather(&c, own, &lengths, 6, limit).await.unwrap();
                let nothing =
                    gather(&c, Vec::new(), &vec![0; lengths.len()], 0, limit).await.unwrap();
                assert!(nothing.iter().all(Vec::is_empty));
                assert_eq!(gathered, if c.rank() == 0 { messages.to_vec() } else { Vec::new() });
            });
            assert_eq!(results.len(), 4);
            assert!(sent.iter().all(|Sent { bytes, .. }| *bytes <= limit));
            assert_eq!(sent.len(), 6_usize.div_ceil(limit) + 4_usize.div_ceil(limit));
        }
    }

    #[test]
    fn messages_of_any_length_arrive_and_no_chunk_is_longer_than_the_limit() {
        for (length, limit) in [(0, 1), (1, 1), (9, 1), (10, 3), (10, 10), (10, 100)] {
            let (results, sent) = virtual_ranks::run_counted(3, |c| async move {
                let message: Vec<u8> = (0..length).collect();
                let all = broadcast(&c, message.clone(), limit).await.unwrap();
                let other = broadcast(&c, vec![9; c.rank() as usize * 7], limit).await.unwrap();
                assert!(other.is_empty(), "rank 0 has nothing to say");
                if c.rank() == 2 {
                    send(&c, 1, &message, limit).await.unwrap();
                } else if c.rank() == 1 {
                    assert_eq!(receive(&c, 2, limit).await.unwrap(), message);
                }
                all
            });
            assert!(results.iter().all(|all| *all == (0..length).collect::<Vec<u8>>()));
            assert!(sent.iter().all(|Sent { bytes, .. }| *bytes <= limit.max(LENGTH_BYTES)));
        }
    }
}
