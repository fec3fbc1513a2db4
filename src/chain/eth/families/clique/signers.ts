import { formatData } from '../../../../lib/hex.js'
import type { ChainSpec } from '../../forks/rules.js'
import { hashHeader } from '../../header.js'
import type { Header } from '../../types.js'
import { recoverSealer } from '../bft/extraData.js'
import { foldHeaders } from '../headerFold.js'

/** Bytes of extra data before the list of signers. */
export const VANITY = 32
/** Bytes of the seal, at the end of extra data. */
export const SEAL = 65
/** Bytes of a signer in the list. */
export const ADDRESS = 20

/** Returns the signer of a block, 20 bytes, from its seal. @throws Error when no key can have made it */
export function signerOf(header: Header): Uint8Array {
  const { extraData } = header
  const at = extraData.length - SEAL
  return recoverSealer(hashHeader({ ...header, extraData: extraData.subarray(0, at) }), extraData.subarray(at))
}

/** Returns the signers that a block lists, hex addresses in its order. */
export function listedSigners({ extraData }: Header): string[] {
  const list = extraData.subarray(VANITY, extraData.length - SEAL)
  return Array.from({ length: list.length / ADDRESS }, (_, i) =>
    formatData(list.subarray(i * ADDRESS, (i + 1) * ADDRESS)),
  )
}

/** Who may sign the next block (EIP-225). Addresses are hex. */
export interface Signers {
  /** In ascending order. */
  readonly addresses: readonly string[]
  /** The newest blocks, whose signers have to wait, the last one at the end. */
  readonly recent: readonly { readonly number: number; readonly signer: string }[]
  readonly votes: readonly { readonly signer: string; readonly candidate: string; readonly isAdded: boolean }[]
}

/** A signer may sign one of this many blocks. */
export function signerLimit({ addresses }: Signers): number {
  return Math.floor(addresses.length / 2) + 1
}

/** Returns who may sign the block after another one; undefined where the votes before it are not available. */
export const signersAfter = foldHeaders<Signers>({
  begin: beginSigners,
  next: withBlock,
})

/** Trusts the list of a block that has one. Who has to wait is then known for that block alone. */
function beginSigners(header: Header, { clique }: ChainSpec): Signers | undefined {
  if (header.number % clique!.epoch !== 0) return undefined
  const addresses = listedSigners(header).sort()
  const recent = header.number === 0 ? [] : [{ number: header.number, signer: formatData(signerOf(header)) }]
  return { addresses, recent, votes: [] }
}

/** A nonce of all ones adds the beneficiary of the header, one of zeros removes it; the zero address is no vote. */
function withBlock(before: Signers, header: Header, { clique }: ChainSpec): Signers {
  const { number } = header
  const signer = formatData(signerOf(header))
  const recent = [...before.recent, { number, signer }].filter((each) => each.number > number - signerLimit(before))
  const { addresses } = before
  const [candidate, isAdded] = [formatData(header.miner), header.nonce[0] === 255]
  // A list of signers ends the votes before it.
  const counted = number % clique!.epoch === 0 ? [] : before.votes
  const others = counted.filter((vote) => vote.signer !== signer || vote.candidate !== candidate)
  if (addresses.includes(candidate) === isAdded) return { addresses, recent, votes: others }
  const votes = [...others, { signer, candidate, isAdded }]
  const count = votes.filter((vote) => vote.candidate === candidate && vote.isAdded === isAdded).length
  if (count <= addresses.length / 2) return { addresses, recent, votes }
  const without = addresses.filter((each) => each !== candidate)
  const after = { addresses: isAdded ? [...without, candidate].sort() : without, recent, votes: [] }
  return {
    addresses: after.addresses,
    // With fewer signers, the oldest has to wait for one block less.
    recent: recent.filter((each) => each.number > number - signerLimit(after)),
    votes: votes.filter((vote) => vote.candidate !== candidate && (isAdded || vote.signer !== candidate)),
  }
}
