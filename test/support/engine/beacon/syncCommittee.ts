import { createHash } from 'node:crypto'
import { normalizeZ } from '@noble/curves/abstract/curve.js'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { formatData, parseHex } from '../../../../src/lib/hex.js'
import { bytesRoot, containerRoot, merkleize } from './ssz.js'

const SIZE = 512
const { longSignatures } = bls12_381
const { Point: G1 } = bls12_381.G1
const FIELD = bls12_381.fields.Fp.ORDER
const ORDER = bls12_381.fields.Fr.ORDER
const DST = 'BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_'
const DOMAIN_SYNC_COMMITTEE = 7

/** A sync committee that signs with all of its keys (consensus-specs, altair/beacon-chain.md). */
export interface SyncCommittee {
  /** As in the beacon API. */
  readonly json: { readonly pubkeys: readonly string[]; readonly aggregate_pubkey: string }
  /** Hash tree root, 32 bytes. */
  readonly root: Uint8Array
  /** Returns the sync aggregate for a block root, 32 bytes, in a domain of `signingDomain`. */
  sign(blockRoot: Uint8Array, domain: Uint8Array): { sync_committee_bits: string; sync_committee_signature: string }
}

/** A committee with the secret keys `first`, `first + 1`, … */
export function createSyncCommittee(first: bigint): SyncCommittee {
  const points = [G1.BASE.multiply(first)]
  while (points.length < SIZE) points.push(points[points.length - 1].add(G1.BASE))
  const pubkeys = normalizeZ(G1, points).map(compress)
  // The aggregate signature is that of the sum of the keys.
  const secret = (BigInt(SIZE) * first + BigInt((SIZE * (SIZE - 1)) / 2)) % ORDER
  const aggregate = compress(G1.BASE.multiply(secret))
  const key = parseHex(secret.toString(16).padStart(64, '0'))
  return {
    json: { pubkeys: pubkeys.map(formatData), aggregate_pubkey: formatData(aggregate) },
    root: containerRoot([merkleize(pubkeys.map(bytesRoot), 9), bytesRoot(aggregate)]),
    sign: (blockRoot, domain) => {
      const message = createHash('sha256').update(blockRoot).update(domain).digest()
      const signature = longSignatures.sign(longSignatures.hash(message, DST), key)
      return {
        sync_committee_bits: `0x${'ff'.repeat(SIZE / 8)}`,
        sync_committee_signature: formatData(longSignatures.Signature.toBytes(signature)),
      }
    },
  }
}

/** A point of G1, 48 bytes: the coordinate x, with flags. The method of the package checks the subgroup, which takes
 *  2 ms. */
function compress(point: InstanceType<typeof G1>): Uint8Array {
  const { x, y } = point.toAffine()
  const bytes = parseHex(x.toString(16).padStart(96, '0'))
  bytes[0] |= y > (FIELD - 1n) / 2n ? 0xa0 : 0x80
  return bytes
}

/** The domain of signatures of sync committees in a fork, 32 bytes (`compute_domain`). `version` has 4 bytes. */
export function signingDomain(version: Uint8Array, genesisValidatorsRoot: Uint8Array): Uint8Array {
  const forkData = containerRoot([Uint8Array.of(...version, ...new Uint8Array(28)), genesisValidatorsRoot])
  return Uint8Array.of(DOMAIN_SYNC_COMMITTEE, 0, 0, 0, ...forkData.subarray(0, 28))
}
