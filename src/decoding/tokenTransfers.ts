import { TRANSFER_BATCH_TOPIC, TRANSFER_SINGLE_TOPIC, TRANSFER_TOPIC } from '../chain/eth/transferTopics.js'
import { bytesToBigInt, equalBytes } from '../lib/bytes.js'

/** Standards of tokens: ERC-20, ERC-721 and ERC-1155. */
export const TOKEN_KINDS = ['erc20', 'erc721', 'erc1155'] as const
export type TokenKind = (typeof TOKEN_KINDS)[number]

/** One transfer of a log. The zero address as `from` is a mint, as `to` a burn. */
export interface TokenTransfer {
  readonly kind: TokenKind
  readonly from: Uint8Array // 20
  readonly to: Uint8Array // 20
  /** Id of the token in its contract; undefined for ERC-20. */
  readonly id: bigint | undefined
  /** Units of the token; 1 for ERC-721. */
  readonly value: bigint
}

/** What a log needs to be read as transfers. Topics are 32 bytes each; absent ones are null or missing. */
interface TransferLog {
  readonly topics: readonly (Uint8Array | null)[]
  readonly data: Uint8Array
}

/** Returns the transfers of a log, in the order of a batch: empty for a log of another event, and for one that the
 *  standard's event does not encode. ERC-20: `Transfer` with three topics and 32 bytes of data; ERC-721: `Transfer`
 *  with four topics and no data; ERC-1155: `TransferSingle` and `TransferBatch` with four topics. Addresses with more
 *  than 20 bytes are refused. A batch has at most one transfer per 32 bytes of data. */
export function readTokenTransfers({ topics, data }: TransferLog): TokenTransfer[] {
  const [topic0, topic1, topic2, topic3] = topics
  if (!topic0 || !topic1 || !topic2) return []
  if (equalBytes(topic0, TRANSFER_TOPIC)) return readTransfer(topic1, topic2, topic3, data)
  if (!topic3) return []
  const isSingle = equalBytes(topic0, TRANSFER_SINGLE_TOPIC)
  if (!isSingle && !equalBytes(topic0, TRANSFER_BATCH_TOPIC)) return []
  if (!isAddress(topic1) || !isAddress(topic2) || !isAddress(topic3)) return []
  const [from, to] = [topic2.subarray(12), topic3.subarray(12)]
  if (isSingle) {
    if (data.length !== 64) return []
    return [{ kind: 'erc1155', from, to, id: wordAt(data, 0), value: wordAt(data, 32) }]
  }
  const [ids, values] = [readWords(data, 0), readWords(data, 32)]
  if (ids === undefined || values === undefined || ids.length !== values.length) return []
  return ids.map((id, i) => ({ kind: 'erc1155', from, to, id, value: values[i] }))
}

function readTransfer(
  topic1: Uint8Array,
  topic2: Uint8Array,
  topic3: Uint8Array | null | undefined,
  data: Uint8Array,
): TokenTransfer[] {
  if (!isAddress(topic1) || !isAddress(topic2)) return []
  const [from, to] = [topic1.subarray(12), topic2.subarray(12)]
  if (topic3) return data.length === 0 ? [{ kind: 'erc721', from, to, id: bytesToBigInt(topic3), value: 1n }] : []
  return data.length === 32 ? [{ kind: 'erc20', from, to, id: undefined, value: bytesToBigInt(data) }] : []
}

/** True for a word whose first 12 bytes are zero. */
function isAddress(word: Uint8Array): boolean {
  for (let i = 0; i < 12; i++) if (word[i] !== 0) return false
  return true
}

function wordAt(data: Uint8Array, at: number): bigint {
  return bytesToBigInt(data.subarray(at, at + 32))
}

/** Returns the words of the array whose offset is at `head`; undefined if it does not end within the data. */
function readWords(data: Uint8Array, head: number): bigint[] | undefined {
  const at = readLength(data, head)
  const length = at === undefined ? undefined : readLength(data, at)
  if (at === undefined || length === undefined || at + 32 + 32 * length > data.length) return undefined
  return Array.from({ length }, (_, i) => wordAt(data, at + 32 + 32 * i))
}

/** Returns the offset or length at `at`; undefined if it is beyond the data. */
function readLength(data: Uint8Array, at: number): number | undefined {
  if (at + 32 > data.length) return undefined
  const value = wordAt(data, at)
  return value <= BigInt(data.length) ? Number(value) : undefined
}
