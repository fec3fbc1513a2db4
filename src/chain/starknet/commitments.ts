import { computeCommitment } from './commitmentTree.js'
import type { Felt } from './felt.js'
import { encodeShortString } from './felt.js'
import { hashChains, hashPoseidon, poseidonPairs, starknetKeccak } from './hash.js'
import type { PairHasher } from './pedersen.js'
import type { L2Event, L2Message, L2Receipt, L2StateDiff, L2Transaction } from './types.js'
import type { L2HashRules } from './version.js'

/* Leaves: Starknet documentation, "Block structure: transactions, events and receipts commitments". Differences between
 * versions are documented only in the source of Starknet's block_hash_calculator. */

const STATE_DIFF_VERSION = encodeShortString('STARKNET_STATE_DIFF0')

/** The root over the transactions and their signatures. */
export function computeTransactionCommitment(
  transactions: readonly L2Transaction[],
  rules: L2HashRules,
  pedersenPairs: PairHasher,
): Felt {
  if (rules === 'poseidon-0' || rules === 'poseidon-1') {
    const leaves = transactions.map(({ hash, signature }) => {
      // Until 0.13.4 a missing signature was hashed as a single zero.
      const covered = signature.length === 0 && rules === 'poseidon-0' ? [0n] : signature
      return hashPoseidon([hash, ...covered])
    })
    return computeCommitment(leaves, poseidonPairs)
  }
  const covered = transactions.map(({ kind, signature }) => {
    return rules === 'pedersen-signatures' || kind === 'INVOKE' ? signature : []
  })
  const signatureHashes = hashChains(covered, pedersenPairs)
  const leaves = pedersenPairs(transactions.map(({ hash }, i) => [hash, signatureHashes[i]] as const))
  return computeCommitment(leaves, pedersenPairs)
}

/** The root over the events of all receipts, in order; undefined when a receipt lacks its events. */
export function computeEventCommitment(
  receipts: readonly L2Receipt[],
  rules: L2HashRules,
  pedersenPairs: PairHasher,
): Felt | undefined {
  const events: (L2Event & { transactionHash: Felt })[] = []
  for (const { transactionHash, events: own } of receipts) {
    if (own === undefined) return undefined
    for (const event of own) events.push({ ...event, transactionHash })
  }
  if (rules === 'poseidon-0' || rules === 'poseidon-1') {
    const leaves = events.map(({ fromAddress, transactionHash, keys, data }) =>
      hashPoseidon([fromAddress, transactionHash, BigInt(keys.length), ...keys, BigInt(data.length), ...data]),
    )
    return computeCommitment(leaves, poseidonPairs)
  }
  const partHashes = hashChains([...events.map(({ keys }) => keys), ...events.map(({ data }) => data)], pedersenPairs)
  const leaves = hashChains(
    events.map(({ fromAddress }, i) => [fromAddress, partHashes[i], partHashes[events.length + i]]),
    pedersenPairs,
  )
  return computeCommitment(leaves, pedersenPairs)
}

/** The root over the receipts (since 0.13.2); undefined when a receipt lacks its fee or gas. */
export function computeReceiptCommitment(receipts: readonly L2Receipt[]): Felt | undefined {
  const leaves: Felt[] = []
  for (const receipt of receipts) {
    if (receipt.actualFee === undefined || receipt.gasConsumed === undefined) return undefined
    leaves.push(
      hashPoseidon([
        receipt.transactionHash,
        receipt.actualFee,
        hashMessages(receipt.messages),
        receipt.revertReason === undefined ? 0n : starknetKeccak(new TextEncoder().encode(receipt.revertReason)),
        0n, // L2 gas, always zero in this hash
        receipt.gasConsumed.l1Gas,
        receipt.gasConsumed.l1DataGas,
      ]),
    )
  }
  return computeCommitment(leaves, poseidonPairs)
}

function hashMessages(messages: readonly L2Message[]): Felt {
  const values = messages.flatMap(({ fromAddress, toAddress, payload }) => [
    fromAddress,
    toAddress,
    BigInt(payload.length),
    ...payload,
  ])
  return hashPoseidon([BigInt(messages.length), ...values])
}

/** Number of events in all receipts; undefined when a receipt lacks its events. */
export function countEvents(receipts: readonly L2Receipt[]): number | undefined {
  let count = 0
  for (const { events } of receipts) {
    if (events === undefined) return undefined
    count += events.length
  }
  return count
}

/** The commitment to a state diff (since 0.13.2): every list prefixed with its length and sorted by key. */
export function computeStateDiffCommitment(diff: L2StateDiff): Felt {
  const contracts = [...diff.deployedContracts, ...diff.replacedClasses]
  const classes = [...diff.declaredClasses, ...diff.migratedClasses]
  const storage = diff.storage.filter(({ entries }) => entries.length > 0)
  return hashPoseidon([
    STATE_DIFF_VERSION,
    ...flatten(contracts.map(({ address, classHash }) => [address, classHash])),
    ...flatten(classes.map(({ classHash, compiledClassHash }) => [classHash, compiledClassHash])),
    ...flatten(diff.declaredLegacyClasses.map((classHash) => [classHash])),
    1n, // number of data availability modes
    0n, // mode 0: L1
    ...flatten(
      storage.map(({ address, entries }) => [address, ...flatten(entries.map(({ key, value }) => [key, value]))]),
    ),
    ...flatten(diff.nonces.map(({ address, nonce }) => [address, nonce])),
  ])
}

/** Number of single changes in a state diff: the state diff length of a block header. */
export function countStateChanges(diff: L2StateDiff): number {
  const storage = diff.storage.reduce((count, { entries }) => count + entries.length, 0)
  const classes = diff.declaredClasses.length + diff.migratedClasses.length + diff.declaredLegacyClasses.length
  return storage + classes + diff.nonces.length + diff.deployedContracts.length + diff.replacedClasses.length
}

/** The number of entries, followed by the entries sorted by their first felt. */
function flatten(entries: readonly (readonly Felt[])[]): Felt[] {
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return [BigInt(entries.length), ...sorted.flat()]
}
