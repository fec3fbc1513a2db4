import assert from 'node:assert/strict'
import type { Log } from '../../../src/chain/eth/types.js'
import type { LogFilter } from '../../../src/index/logs/filter.js'
import type { formatLog } from '../../../src/index/logs/logJson.js'
import type { LogTexts } from '../../../src/index/logs/logText.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { matchesFilter } from '../../support/compare/matchesFilter.js'
import { hashOfBlock, numberedBytes, type PlacedLog } from './randomLogs.js'

/** The first block of the random chains. */
export const FIRST_BLOCK = 100
const HOT = 3 // values below are used by most logs

/** Values are few and skewed, so that lists meet; number 0 is the all-zero topic. */
function randomValue(random: () => number, count: number): number {
  return random() < 0.6 ? Math.floor(random() * HOT) : Math.floor(random() * count)
}

function randomLog(random: () => number): Log {
  const topics = Array.from({ length: Math.floor(random() * 5) }, (_, i) =>
    numberedBytes(randomValue(random, 40 + i), 32),
  )
  const data = new Uint8Array([0, 32, 32, 32, 33, 64][Math.floor(random() * 6)])
  if (data.length > 0 && random() < 0.8) data[Math.floor(random() * data.length)] = 1 + Math.floor(random() * 255)
  return { address: numberedBytes(randomValue(random, 60), 20), topics, data }
}

/** Blocks of random logs by transaction. */
export function randomBlocks(random: () => number, count: number): Log[][][] {
  return Array.from({ length: count }, () => {
    if (random() < 0.2) return []
    return Array.from({ length: Math.floor(random() * 4) }, () =>
      Array.from({ length: Math.floor(random() * 9) }, () => randomLog(random)),
    )
  })
}

function randomList(random: () => number, length: number, count: number): Uint8Array[] {
  const size = random() < 0.6 ? 1 : random() < 0.8 ? Math.floor(random() * 5) : 30
  // Numbers beyond `count` were never logged.
  return Array.from({ length: size }, () => numberedBytes(randomValue(random, count + 20), length))
}

/** A filter of random shape over that many blocks. */
export function randomFilter(random: () => number, blocks: number): LogFilter {
  const a = FIRST_BLOCK + Math.floor(random() * blocks)
  const b = FIRST_BLOCK + Math.floor(random() * blocks)
  const wide = random() < 0.5
  return {
    fromBlock: wide ? FIRST_BLOCK : Math.min(a, b),
    toBlock: wide ? FIRST_BLOCK + blocks - 1 : Math.max(a, b),
    addresses: random() < 0.5 ? undefined : randomList(random, 20, 60),
    topics: Array.from({ length: Math.floor(random() * 5) }, (_, i) =>
      random() < 0.45 ? null : randomList(random, 32, 40 + i),
    ),
  }
}

/** What a look at every log gives. */
export function expectedMatches(logs: PlacedLog[], filter: LogFilter): PlacedLog[] {
  return logs.filter(
    (log) => log.blockNumber >= filter.fromBlock && log.blockNumber <= filter.toBlock && matchesFilter(log, filter),
  )
}

/** All fields of a log in one text: comparing texts is a hundred times as fast as comparing objects. */
export function textOf(log: PlacedLog): string {
  const bytes = [log.address, ...log.topics, log.data, log.transactionHash].map((part) =>
    Buffer.from(part).toString('hex'),
  )
  return [log.blockNumber, log.transactionIndex, log.logIndex, ...bytes].join(' ')
}

/** The JSON array of an answer. */
export function jsonOf({ text }: LogTexts): string {
  return `[${text}]`
}

/** The logs of an answer as the oracle has them. */
export function asPlaced(answer: LogTexts): PlacedLog[] {
  const logs = JSON.parse(jsonOf(answer)) as ReturnType<typeof formatLog>[]
  assert.equal(logs.length, answer.count)
  return logs.map((log) => {
    const blockNumber = Number(log.blockNumber)
    assert.equal(log.blockHash, formatData(hashOfBlock(blockNumber)))
    assert.equal(Number(log.blockTimestamp), blockNumber * 12)
    assert.equal(log.removed, false)
    return {
      address: parseHex(log.address),
      topics: log.topics.map(parseHex),
      data: parseHex(log.data),
      blockNumber,
      transactionIndex: Number(log.transactionIndex),
      transactionHash: parseHex(log.transactionHash),
      logIndex: Number(log.logIndex),
    }
  })
}
