import { keccak256, recoverPublicKey } from '../../../crypto.js'
import { hashHeader } from '../../header.js'
import { asBytes, asFixed, asList, decodeRlp, encodeRlp, type RlpInput, type RlpItem } from '../../rlp.js'
import type { Header } from '../../types.js'

/** The extra data of a block of IBFT 2.0 or QBFT: RLP of [vanity, validators, vote, round, seals]. */
export interface BftExtraData {
  /** Addresses of those that may seal the block, 20 bytes each. */
  readonly validators: readonly Uint8Array[]
  /** Whom the proposer votes on, 20 bytes; undefined for no vote. */
  readonly candidate: Uint8Array | undefined
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
  return {
    validators: asList(fields[1], 'extraData.validators').map((item) => asFixed(item, 20, 'extraData.validators')),
    candidate: isVote ? asFixed(asList(vote, 'extraData.vote', 2, 2)[0], 20, 'extraData.vote') : undefined,
    seals: asList(fields[4], 'extraData.seals').map((item) => asFixed(item, SEAL_BYTES, 'extraData.seals')),
    fields,
  }
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
