import { isAddress, isHex, numberToHex, pad, toEventSelector } from 'viem'
import type { Hex } from './client/types.js'

/* The filter builder: converts form input to the filter of `eth_getLogs`. Pure functions, without the browser. */

/** The fields of the form, as typed and as in the URL. */
export interface FilterForm {
  /** Addresses separated by white space or commas. */
  address: string
  from: string
  to: string
  /** Replaces `from` and `to`. */
  blockHash: string
  /** An event's name or signature, or a topic. */
  topic0: string
  topic1: string
  topic2: string
  topic3: string
}

/** A filter of `eth_getLogs`. */
export interface LogFilter {
  address?: Hex | Hex[]
  fromBlock?: string
  toBlock?: string
  blockHash?: Hex
  topics?: (Hex | Hex[] | null)[]
}

export const EMPTY_FORM: FilterForm = {
  address: '',
  from: '',
  to: '',
  blockHash: '',
  topic0: '',
  topic1: '',
  topic2: '',
  topic3: '',
}

/** A field of the form is invalid. */
export class WrongField extends Error {
  readonly field: keyof FilterForm
  constructor(field: keyof FilterForm, message: string) {
    super(message)
    this.field = field
  }
}

/** Events that can be selected by name. */
export const KNOWN_EVENTS: readonly string[] = [
  'Transfer(address,address,uint256)',
  'Approval(address,address,uint256)',
  'ApprovalForAll(address,address,bool)',
  'TransferSingle(address,address,address,uint256,uint256)',
  'TransferBatch(address,address,address,uint256[],uint256[])',
  'URI(string,uint256)',
  'Deposit(address,uint256)',
  'Withdrawal(address,uint256)',
  'Deposit(address,address,uint256,uint256)',
  'Withdraw(address,address,address,uint256,uint256)',
  'Swap(address,uint256,uint256,uint256,uint256,address)',
  'Swap(address,address,int256,int256,uint160,uint128,int24)',
  'Mint(address,uint256,uint256)',
  'Burn(address,uint256,uint256,address)',
  'Sync(uint112,uint112)',
  'PairCreated(address,address,address,uint256)',
  'PoolCreated(address,address,uint24,int24,address)',
  'OwnershipTransferred(address,address)',
  'RoleGranted(bytes32,address,address)',
  'RoleRevoked(bytes32,address,address)',
  'Upgraded(address)',
  'Initialized(uint8)',
  'Paused(address)',
  'Unpaused(address)',
  'NewOwner(bytes32,bytes32,address)',
  'NewResolver(bytes32,address)',
  'AddrChanged(bytes32,address)',
  'ExecutionSuccess(bytes32,uint256)',
  'ExecutionFailure(bytes32,uint256)',
  'SafeReceived(address,uint256)',
]

const TAGS = ['latest', 'earliest', 'pending', 'safe', 'finalized']

let namesByTopic: Map<string, string> | undefined

/** Returns the signature of a known event by its topic. */
export function eventOf(topic: string | undefined): string | undefined {
  namesByTopic ??= new Map(KNOWN_EVENTS.map((signature) => [toEventSelector(signature), signature]))
  return topic === undefined ? undefined : namesByTopic.get(topic)
}

/** Builds the filter from the form. Without bounds, it covers the whole chain, from `earliest` to `latest`.
 *  @throws WrongField */
export function buildFilter(form: FilterForm): LogFilter {
  const filter: LogFilter = {}
  const addresses = splitList(form.address).map((text) => parseAddress(text))
  if (addresses.length > 0) filter.address = addresses.length === 1 ? addresses[0] : addresses
  if (form.blockHash.trim() !== '') {
    if (!isData(form.blockHash.trim(), 32)) throw new WrongField('blockHash', 'a block hash is 0x and 64 hex digits')
    if (form.from.trim() !== '' || form.to.trim() !== '') {
      throw new WrongField('blockHash', 'give a block hash or a range, not both')
    }
    filter.blockHash = form.blockHash.trim() as Hex
  } else {
    filter.fromBlock = parseBound('from', form.from, 'earliest')
    filter.toBlock = parseBound('to', form.to, 'latest')
  }
  const topics = [
    parseTopics('topic0', form.topic0),
    parseTopics('topic1', form.topic1),
    parseTopics('topic2', form.topic2),
    parseTopics('topic3', form.topic3),
  ]
  while (topics.at(-1) === null) topics.pop()
  if (topics.length > 0) filter.topics = topics
  return filter
}

function parseAddress(text: string): Hex {
  if (isAddress(text, { strict: false })) return text.toLowerCase() as Hex
  throw new WrongField('address', `an address is 0x and 40 hex digits, not ${text}`)
}

/** Parses a number in decimal or hex, or a tag. */
function parseBound(field: 'from' | 'to', text: string, fallback: string): string {
  const trimmed = text.trim().replaceAll(',', '')
  if (trimmed === '') return fallback
  if (TAGS.includes(trimmed)) return trimmed
  if (/^(\d{1,15}|0x[\da-f]{1,12})$/i.test(trimmed)) return numberToHex(Number(trimmed))
  throw new WrongField(field, `a block is a number, or ${TAGS.join(', ')}`)
}

/** Parses the values of one topic, separated by white space; null for any. */
function parseTopics(field: `topic${0 | 1 | 2 | 3}`, text: string): Hex | Hex[] | null {
  // A signature may have spaces after its commas.
  const values = field === 'topic0' ? text.trim().split(/\s+(?![^(]*\))/) : text.trim().split(/[\s,]+/)
  const topics = values.filter((value) => value !== '').map((value) => parseTopic(field, value))
  if (topics.length === 0) return null
  return topics.length === 1 ? topics[0] : topics
}

/** Parses a topic: 32 bytes unchanged, an event's name or signature as its hash, addresses and integers padded. */
function parseTopic(field: `topic${0 | 1 | 2 | 3}`, value: string): Hex {
  if (isData(value, 32)) return value.toLowerCase() as Hex
  if (field === 'topic0') return parseEvent(value)
  if (isAddress(value, { strict: false })) return pad(value.toLowerCase() as Hex)
  if (/^\d{1,78}$/.test(value) && BigInt(value) < 2n ** 256n) return numberToHex(BigInt(value), { size: 32 })
  if (value === 'true' || value === 'false') return numberToHex(value === 'true' ? 1 : 0, { size: 32 })
  throw new WrongField(field, 'a topic is 32 bytes in hex, an address, or an integer in decimal')
}

function parseEvent(value: string): Hex {
  if (/^[A-Za-z_$][\w$]*\(.*\)$/.test(value)) {
    try {
      return toEventSelector(value.replace(/\s/g, ''))
    } catch {
      throw new WrongField('topic0', `${value} is no event signature, as in Transfer(address,address,uint256)`)
    }
  }
  const named = KNOWN_EVENTS.find((signature) => signature.startsWith(`${value}(`))
  if (named !== undefined) return toEventSelector(named)
  throw new WrongField('topic0', 'an event is a signature, as in Transfer(address,address,uint256), or 32 bytes in hex')
}

function splitList(text: string): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '')
}

function isData(value: string, bytes: number): boolean {
  return isHex(value) && value.length === 2 + 2 * bytes
}
