import { keccak256, recoverPublicKey } from '../../../crypto.js'
import { hashHeader } from '../../header.js'
import { asBytes, asFixed, asList, DecodeError, decodeRlp, encodeRlp, type RlpInput, type RlpItem } from '../../rlp.js'
import type { Header } from '../../types.js'

/** The extra data of a block of IBFT 2.0 or QBFT: RLP of [vanity, validators, vote, round, seals]. */
export interface BftExtraData {
  /** Addresses of those that may seal the block, 20 bytes each. */
  readonly validators: readonly Uint8Array[]
  /** Whom the proposer votes on, 20 bytes; undefined for no vote. */
  readonly candidate: Uint8Array | undefined
  /** True if the vote is to add the candidate, false if it is to remove it or there is no vote. */
  readonly adds: boolean
  /** Signatures of r, s and recovery id, 65 bytes each. */
  readonly seals: readonly Uint8Array[]
  /** All five fields as they are. */
  readonly fields: readonly RlpItem[]
}

/** How a protocol leaves parts out of what is hashed. */
export interface BftForm {
  /** Fields in place of round and seals in the block hash. */
  readonly hashed: readonly RlpInput[]
  /** Fields in place of the seals in the hash that they sign. */
  readonly sealed: readonly RlpInput[]
}

/** IBFT 2.0 leaves the fields away. */
export const IBFT2_FORM: BftForm = { hashed: [], sealed: [] }
/** QBFT keeps them empty. */
export const QBFT_FORM: BftForm = { hashed: [0n, []], sealed: [[]] }

const SEAL_BYTES = 65

/** Decodes extra data. @throws DecodeError */
export function readBftExtraData(extraData: Uint8Array): BftExtraData {
  const fields = asList(decodeRlp(extraData, 'extraData'), 'extraData', 5, 5)
  const vote = fields[2]
  const isVote = !(vote instanceof Uint8Array) && asList(vote, 'extraData.vote').length > 0
  const [candidate, kind] = isVote ? asList(vote, 'extraData.vote', 2, 2) : []
  return {
    validators: asList(fields[1], 'extraData.validators').map((item) => asFixed(item, 20, 'extraData.validators')),
    candidate: candidate && asFixed(candidate, 20, 'extraData.vote'),
    adds: kind !== undefined && isAdding(asBytes(kind, 'extraData.vote')),
    seals: asList(fields[4], 'extraData.seals').map((item) => asFixed(item, SEAL_BYTES, 'extraData.seals')),
    fields,
  }
}

// IBFT 2.0 writes the round with all bytes, QBFT as an integer.
const IBFT2_ROUND_BYTES = 4

/** Returns the protocol whose form extra data has; undefined for another form. */
export function bftFormOf(extraData: Uint8Array): BftForm | undefined {
  try {
    const round = asBytes(readBftExtraData(extraData).fields[3], 'extraData.round')
    return round.length === IBFT2_ROUND_BYTES ? IBFT2_FORM : QBFT_FORM
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** 0xff adds a validator, zero removes one: a byte in IBFT 2.0, no byte in QBFT. */
function isAdding(kind: Uint8Array): boolean {
  if (kind.length === 0 || (kind.length === 1 && kind[0] === 0)) return false
  if (kind.length === 1 && kind[0] === 255) return true
  throw new DecodeError('extraData.vote', 'expected 0xff or zero')
}

/** Returns the block hash, 32 bytes: without seals and round, so that all validators have the same. That of block 0 is
 *  over the whole header. @throws DecodeError for extra data of another form */
export function hashBftHeader(header: Header, { hashed }: BftForm): Uint8Array {
  if (header.number === 0) return hashHeader(header)
  const [vanity, validators, vote] = readBftExtraData(header.extraData).fields
  return hashWith(header, [vanity, validators, vote].map(toInput).concat(hashed))
}

/** Returns the addresses that sealed a block, 20 bytes each, in the order of the seals. @throws Error for a seal that
 *  no key can have made */
export function recoverSealers(header: Header, { seals, fields }: BftExtraData, { sealed }: BftForm): Uint8Array[] {
  const hash = hashWith(header, fields.slice(0, 4).map(toInput).concat(sealed))
  return seals.map((seal) => recoverSealer(hash, seal))
}

/** Returns the address that made a signature of r, s and recovery id, 20 bytes. @throws Error when no key can have made
 *  it */
export function recoverSealer(hash: Uint8Array, seal: Uint8Array): Uint8Array {
  return keccak256(recoverPublicKey(hash, seal[64], seal.subarray(0, 32), seal.subarray(32, 64))).slice(12)
}

function hashWith(header: Header, fields: readonly RlpInput[]): Uint8Array {
  return hashHeader({ ...header, extraData: encodeRlp(fields) })
}

function toInput(item: RlpItem): RlpInput {
  return item instanceof Uint8Array ? asBytes(item, '') : asList(item, '').map(toInput)
}
