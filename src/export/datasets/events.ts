import { type Decoder, type KnownEvent, mayEmit } from '../../decoding/decoder.js'
import type { EventColumn, LogParts } from '../../decoding/eventDecoder.js'
import type { DecodedValue } from '../../decoding/readValues.js'
import { UsageError } from '../../lib/errors.js'
import { parseHex } from '../../lib/hex.js'
import { didYouMean } from '../../lib/suggestion.js'
import type { ExportedLog, StoredBlockLink } from '../../store/rows/exportRows.js'
import { type Cell, type Column, columns, toU32, uint256, uint256Cells } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import type { ExportSource } from '../source.js'
import { placeCells, readLogs } from './logs.js'

// The index finds a few logs in many blocks.
const BATCH_BLOCKS = 256

/** Returns a dataset for each known event in `wanted`, by name, signature or id; if empty, for all events whose logs
 *  occur. @throws UsageError for an unknown event */
export function eventDatasets({ rows }: ExportSource, decoder: Decoder, wanted: readonly string[]): Dataset[] {
  const named = wanted.flatMap((name) => {
    const found = decoder.events.filter(({ id, event }) => [id, event.name, event.signature].includes(name))
    if (found.length > 0) return found
    const known = decoder.events.flatMap(({ id, event }) => [id, event.name])
    throw new UsageError(
      `--event: no known event is named ${JSON.stringify(name)}${didYouMean(name, known)}; see docs/decoding.md`,
    )
  })
  const isLogged = ({ topic0 }: KnownEvent) => topic0 === undefined || rows.hasTopic(topic0)
  const chosen = wanted.length > 0 ? new Set(named) : decoder.events.filter(isLogged)
  return [...chosen].map((event) => datasetOf(event, decoder) as Dataset)
}

/** Creates the dataset of the logs that decode as this event. A log is in the dataset of at most one event of the added
 *  ABIs; a built-in event has all logs that it decodes, also those that an added ABI decodes, too. */
function datasetOf(event: KnownEvent, decoder: Decoder): Dataset<StoredBlockLink> {
  const { id, topic0, address, columns: args } = event
  return {
    name: `events ${id}`,
    fileName: `event_${id}`,
    summary: `Logs of \`${event.event.signature}\`, decoded.`,
    layer: LAYER_1,
    filtersAddresses: true,
    columns: [
      ...columns('u32', 'block_number', 'transaction_index', 'log_index'),
      ...columns('binary', 'transaction_hash', 'address'),
      ...args.flatMap(columnsOf),
      ...columns('u64', 'chain_id'),
      ...columns('u32', 'block_timestamp'),
    ],
    batchBlocks: () => BATCH_BLOCKS,
    *rows(source, links) {
      const chainId = source.chain.chainId()
      const addresses = address === undefined ? source.addresses : only(address, event, source)
      const topics0 = topic0 === undefined ? undefined : [topic0]
      for (const placed of readLogs(source, links, { topics0, addresses })) {
        const { log, block } = placed
        const values = valuesOf(event, { address: log.address, topics: topicsOf(log), data: log.data }, decoder)
        if (values === null) continue
        const cells = values.flatMap((value, i) => cellsOf(args[i], value))
        yield [...placeCells(placed), ...cells, chainId, toU32(block.timestamp)]
      }
    },
  }
}

function valuesOf(event: KnownEvent, log: LogParts, decoder: Decoder): readonly DecodedValue[] | null {
  if (event.isBuiltIn) return event.decode(log.topics, log.data)
  const decoded = decoder.decodeLog(log)
  return decoded?.event === event ? decoded.values : null
}

function only(address: Uint8Array, event: KnownEvent, { addresses }: ExportSource): Uint8Array[] {
  return addresses === undefined || addresses.some((each) => mayEmit(event, each)) ? [address] : []
}

function topicsOf({ topics }: ExportedLog): Uint8Array[] {
  return topics.filter((topic) => topic !== null)
}

/** Names and types the arguments of a decoded event as cryo does. */
function columnsOf({ name, kind, bits = 0 }: EventColumn): Column[] {
  const own = `event__${name}`
  if (kind === 'uint' || kind === 'int') {
    if (bits > 64) return uint256(own)
    return columns(kind === 'uint' ? 'u64' : 'i64', own)
  }
  if (kind === 'bool') return columns('bool', own)
  return columns(kind === 'address' || kind === 'bytes' ? 'binary' : 'string', own)
}

function cellsOf({ kind, bits = 0 }: EventColumn, value: DecodedValue): Cell[] {
  switch (kind) {
    case 'uint':
    case 'int':
      return bits > 64 ? uint256Cells(BigInt(value as string)) : [BigInt(value as string)]
    case 'address':
    case 'bytes':
      return [parseHex(value as string)]
    case 'json':
      return [JSON.stringify(value)]
    default:
      return [value as Cell]
  }
}
