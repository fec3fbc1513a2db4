import { RLP } from '@ethereumjs/rlp'
import { keccak256 } from '../crypto.js'
import { ALL_FORKS } from './forks/all.js'
import {
  asBytes,
  asFixed,
  asList,
  asSafeInteger,
  asUint,
  decodeRlp,
  type RlpInput,
  type RlpItem,
  underPath,
} from './rlp.js'
import type { Header } from './types.js'

/** A header of any fork, from its RLP or its decoded list of 15 or more fields (Yellow Paper, section 4.4.3; EIP-1559,
 *  4895, 4844, 4788, 7685, 7928, 7843). Which fields a fork must have is checked in sync/validate/header.
 *  @throws DecodeError naming the field under `path`. */
export function decodeHeader(input: Uint8Array | RlpItem, path = 'header'): Header {
  try {
    return readHeader(input instanceof Uint8Array ? decodeRlp(input, '') : input)
  } catch (error) {
    throw underPath(path, error)
  }
}

const FIRST_FIELDS = 15 // of Frontier
const LATER_FIELDS = ALL_FORKS.headerFields

function readHeader(item: RlpItem): Header {
  const fields = asList(item, '', FIRST_FIELDS, FIRST_FIELDS + LATER_FIELDS.length)
  const header: Header = {
    parentHash: asFixed(fields[0], 32, 'parentHash'),
    unclesHash: asFixed(fields[1], 32, 'unclesHash'),
    miner: asFixed(fields[2], 20, 'miner'),
    stateRoot: asFixed(fields[3], 32, 'stateRoot'),
    transactionsRoot: asFixed(fields[4], 32, 'transactionsRoot'),
    receiptsRoot: asFixed(fields[5], 32, 'receiptsRoot'),
    logsBloom: asFixed(fields[6], 256, 'logsBloom'),
    difficulty: asUint(fields[7], 32, 'difficulty'),
    number: asSafeInteger(fields[8], 'number'),
    gasLimit: asUint(fields[9], 8, 'gasLimit'),
    gasUsed: asUint(fields[10], 8, 'gasUsed'),
    timestamp: asUint(fields[11], 8, 'timestamp'),
    extraData: asBytes(fields[12], 'extraData'),
    mixHash: asFixed(fields[13], 32, 'mixHash'),
    nonce: asFixed(fields[14], 8, 'nonce'),
  }
  const later: { [name: string]: Uint8Array | bigint | undefined } = {}
  for (const [i, { name, type, bytes }] of LATER_FIELDS.entries()) {
    const field = fields[FIRST_FIELDS + i]
    if (field !== undefined) later[name] = type === 'uint' ? asUint(field, bytes, name) : asFixed(field, bytes, name)
    else later[name] = undefined
  }
  return Object.assign(header, later)
}

/** The fields of the header in their order: the 15 of Frontier and the later ones that it has.
 *  @throws RangeError when a later field is present and an earlier one is missing. */
export function headerFields(header: Header): Exclude<RlpInput, readonly RlpInput[]>[] {
  const later = LATER_FIELDS.map(({ name }) => header[name])
  while (later.length > 0 && later[later.length - 1] === undefined) later.pop()
  if (later.includes(undefined)) throw new RangeError(`header ${header.number} lacks a field before one that it has`)
  return [
    header.parentHash,
    header.unclesHash,
    header.miner,
    header.stateRoot,
    header.transactionsRoot,
    header.receiptsRoot,
    header.logsBloom,
    header.difficulty,
    header.number,
    header.gasLimit,
    header.gasUsed,
    header.timestamp,
    header.extraData,
    header.mixHash,
    header.nonce,
    ...(later as (Uint8Array | bigint)[]),
  ]
}

/** RLP of the header. @throws RangeError when a later field is present and an earlier one is missing. */
export function encodeHeader(header: Header): Uint8Array {
  return RLP.encode(headerFields(header))
}

/** The block hash: keccak-256 of the header's RLP, 32 bytes. */
export function hashHeader(header: Header): Uint8Array {
  return keccak256(encodeHeader(header))
}
