import { keccak256, signHash } from '../../../src/chain/crypto.js'
import { readBftExtraData } from '../../../src/chain/eth/families/bft/extraData.js'
import { encodeHeader } from '../../../src/chain/eth/header.js'
import { asList, encodeRlp, type RlpInput, type RlpItem } from '../../../src/chain/eth/rlp.js'
import type { Block, Header } from '../../../src/chain/eth/types.js'
import { compareBytes, concatBytes, padLeft } from '../../../src/lib/bytes.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { addressOfPrivateKey } from '../signing.js'

/* Chains that the tests seal, by the description of the protocols: the block hash leaves out round and seals, and the
 * seals sign everything but themselves. */

/** Private keys. */
const KEYS = [1, 2, 3, 4, 5].map((n) => padLeft(Uint8Array.of(n), 32))
/** Addresses of the keys, 20 bytes each. */
export const ADDRESSES = KEYS.map(addressOfPrivateKey)
const MIX_HASH = '0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365'

/** Names of the protocols in `config`. */
export type BftName = 'qbft' | 'ibft2'

/** How a block is sealed. */
export interface Seal {
  validators?: readonly Uint8Array[]
  signers?: readonly number[]
  /** Index of the proposer. Default: 0. */
  proposer?: number
  vote?: RlpInput
  round?: number
}

/** A genesis whose validators are the first four addresses, in geth's format. */
export function bftGenesis(name: BftName, config: object = {}) {
  const extraData = formatData(
    encodeRlp([
      new Uint8Array(32),
      ADDRESSES.slice(0, 4).sort(compareBytes),
      name === 'qbft' ? [] : new Uint8Array(0),
      name === 'qbft' ? 0n : new Uint8Array(4),
      [],
    ]),
  )
  return {
    config: { chainId: 1337, berlinBlock: 0, [name]: { blockperiodseconds: 2 }, ...config },
    gasLimit: '0x1c9c380',
    difficulty: '0x1',
    mixHash: MIX_HASH,
    extraData,
    alloc: {},
  }
}

/** Seals a block on top of a parent as a node of the protocol does. */
export function sealBftBlock(name: BftName, parent: { header: Header; hash: Uint8Array }, options: Seal = {}): Block {
  const { validators = ADDRESSES.slice(0, 4), signers = [0, 1, 2], proposer = 0, round = 0 } = options
  const vote = options.vote ?? (name === 'qbft' ? [] : new Uint8Array(0))
  const writtenRound: RlpInput = name === 'qbft' ? BigInt(round) : padLeft(Uint8Array.of(round), 4)
  const vanity = new Uint8Array(32).fill(7)
  const header: Header = {
    ...parent.header,
    parentHash: parent.hash,
    number: parent.header.number + 1,
    timestamp: parent.header.timestamp + 2n,
    miner: ADDRESSES[proposer],
    mixHash: parseHex(MIX_HASH),
  }
  const common = [vanity, [...validators].sort(compareBytes), vote]
  const keys = signers.map((index) => KEYS[index])
  return { ...sealHeader(name, header, [...common, writtenRound], keys), transactions: [], uncles: [], sizeBytes: 0 }
}

/** Returns a block with the seals of other private keys, for round 0, and the hash that follows from its header. */
export function resealBftBlock(name: BftName, block: Block, keys: readonly Uint8Array[]): Block {
  const { validators, fields } = readBftExtraData(block.header.extraData)
  const [vanity, , vote] = fields
  const round = name === 'qbft' ? 0n : new Uint8Array(4)
  return { ...block, ...sealHeader(name, block.header, [toInput(vanity), validators, toInput(vote), round], keys) }
}

function toInput(item: RlpItem): RlpInput {
  return item instanceof Uint8Array ? item : asList(item, '').map(toInput)
}

/** `fields` are those of extra data before the seals. */
function sealHeader(name: BftName, header: Header, fields: readonly RlpInput[], keys: readonly Uint8Array[]) {
  const hashOf = (extraData: RlpInput) => keccak256(encodeHeader({ ...header, extraData: encodeRlp(extraData) }))
  const toSign = hashOf(name === 'qbft' ? [...fields, []] : [...fields])
  const seals = keys.map((key) => {
    const { r, s, recoveryId } = signHash(toSign, key)
    return concatBytes(r, s, Uint8Array.of(recoveryId))
  })
  const common = fields.slice(0, 3)
  const hash = hashOf(name === 'qbft' ? [...common, 0n, []] : common)
  return { hash, header: { ...header, extraData: encodeRlp([...fields, seals]) } }
}
