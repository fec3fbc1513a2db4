import { equalBytes } from '../../../lib/bytes.js'
import { nextDifficulty } from '../difficulty.js'
import { GAS_PER_BLOB, nextBaseFee, nextExcessBlobGas } from '../fees.js'
import type { ChainSpec } from '../forks/rules.js'
import { hashHeader, headerFields } from '../header.js'
import type { Refuse } from '../invalidBlock.js'
import type { Header } from '../types.js'
import { withdrawalsRoot } from '../withdrawals.js'
import type { Family, HeaderContext } from './family.js'

/** Ethereum: its networks, development chains and those of a genesis file. */
export const ethereum: Family = {
  name: 'ethereum',
  title: 'Ethereum',
  chosenBy: '--network mainnet, or --genesis with a file without the configuration of another family',
  transactionTypes: [0, 1, 2, 3, 4],
  boundsGasLimit: () => true,
  hashesWholeHeader: true,
  hashHeader,
  encodedFields: headerFields,
  nextBaseFee,
  nextExcessBlobGas,
  verifyHeader: (header, context) => {
    verifyExtraData(header, context)
    verifySeal(header, context)
    verifyBlobGas(header, context)
  },
  withdrawalsRoot: ({ withdrawals }) => withdrawals && withdrawalsRoot(withdrawals),
  blobGasUsed: ({ transactions }) => {
    let blobs = 0
    for (const { blobVersionedHashes } of transactions) blobs += blobVersionedHashes?.length ?? 0
    return BigInt(blobs) * GAS_PER_BLOB
  },
}

const MAX_EXTRA_DATA = 32

function verifyExtraData(header: Header, { spec, refuse }: HeaderContext): void {
  const { length } = header.extraData
  if (length > MAX_EXTRA_DATA) refuse('extra data', `at most ${MAX_EXTRA_DATA} bytes`, `${length} bytes`)
  verifyDaoExtraData(header, spec, refuse)
}

const DAO_EXTRA_DATA = new TextEncoder().encode('dao-hard-fork') // EIP-779
const DAO_EXTRA_RANGE = 10

function verifyDaoExtraData(header: Header, spec: ChainSpec, refuse: Refuse): void {
  const at = spec.activations.find(({ fork }) => fork === 'dao')?.block
  if (!spec.daoForkSupport || at === undefined) return
  if (header.number < at || header.number >= at + DAO_EXTRA_RANGE) return
  if (!equalBytes(header.extraData, DAO_EXTRA_DATA)) refuse('dao extra data', DAO_EXTRA_DATA, header.extraData)
}

const ZERO_NONCE = new Uint8Array(8)

/** Checks that a header under proof of stake has no difficulty and no nonce (EIP-3675). @throws InvalidBlock */
export function verifyStakeSeal({ difficulty, nonce }: Header, refuse: Refuse): void {
  if (difficulty !== 0n) refuse('difficulty', '0 under proof of stake', difficulty)
  if (!equalBytes(nonce, ZERO_NONCE)) refuse('nonce', ZERO_NONCE, nonce)
}

function verifySeal(header: Header, { parent, rules, spec, refuse }: HeaderContext): void {
  if (rules.isProofOfStake) {
    verifyStakeSeal(header, refuse)
    return
  }
  if (spec.fixedDifficulty !== undefined) {
    if (header.difficulty !== spec.fixedDifficulty) refuse('difficulty', spec.fixedDifficulty, header.difficulty)
    return
  }
  if (!spec.ethash) return
  const expected = nextDifficulty(parent, header.number, header.timestamp, rules)
  if (header.difficulty !== expected) refuse('difficulty', expected, header.difficulty)
}

/** Checks blob gas and its excess (EIP-4844), if the header has them. @throws InvalidBlock */
export function verifyBlobGas(header: Header, { parent, rules, refuse }: HeaderContext): void {
  if (!rules.eip4844 || header.blobGasUsed === undefined) return
  const most = BigInt(rules.blobs!.max) * GAS_PER_BLOB
  if (header.blobGasUsed > most || header.blobGasUsed % GAS_PER_BLOB !== 0n) {
    refuse('blob gas used', `a multiple of ${GAS_PER_BLOB}, at most ${most}`, header.blobGasUsed)
  }
  const expected = nextExcessBlobGas(parent, rules)
  if (header.excessBlobGas !== expected) refuse('excess blob gas', expected, header.excessBlobGas)
}
