import { statSync } from 'node:fs'
import {
  BIGINT,
  BLOB,
  DuckDBBlobValue,
  DuckDBDataChunk,
  DuckDBInstance,
  type DuckDBValue,
  INTEGER,
} from '@duckdb/node-api'
import type { BenchBlock } from '../../test/support/chains/logBlocks.js'
import { TOO_MANY } from '../lib/client.js'
import type { Question } from './shapes.js'
import type { LogStore } from './store.js'

// A chunk has this many rows at most.
const CHUNK_ROWS = 2_048
// Of the machine's memory it would take four fifths, and the others run beside it.
const MEMORY_LIMIT = '8GB'

/** The logs in a native table of DuckDB with BLOB columns, in the database at `path`, created when it is missing. It
 *  uses all cores, as it does by default. */
export async function openDuckDb(path: string): Promise<LogStore & { version: string }> {
  const instance = await DuckDBInstance.create(path, { memory_limit: MEMORY_LIMIT })
  const connection = await instance.connect()
  await connection.run(`CREATE TABLE IF NOT EXISTS logs (
    block_number BIGINT NOT NULL, log_index INTEGER NOT NULL, block_hash BLOB NOT NULL,
    transaction_hash BLOB NOT NULL, transaction_index INTEGER NOT NULL, address BLOB NOT NULL,
    topic0 BLOB, topic1 BLOB, topic2 BLOB, topic3 BLOB, data BLOB NOT NULL)`)
  const types = [BIGINT, INTEGER, BLOB, BLOB, INTEGER, BLOB, BLOB, BLOB, BLOB, BLOB, BLOB]
  const appender = await connection.createAppender('logs')
  const one = async (sql: string) => (await (await connection.run(sql)).getRows())[0][0]
  return {
    name: 'duckdb',
    version: String(await one('SELECT version()')),
    stage: (blocks) => {
      const chunks = columnsOf(blocks)
      return () => {
        for (const columns of chunks) {
          const chunk = DuckDBDataChunk.create(types, columns[0].length)
          chunk.setColumns(columns)
          appender.appendDataChunk(chunk)
        }
        appender.flushSync()
      }
    },
    finish: async () => void (await connection.run('CHECKPOINT')),
    find: async (question) => {
      const result = await connection.run(toSql(question))
      let rows = 0
      for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk()) {
        rows += chunk.rowCount
      }
      return rows
    },
    bytesPerLog: async () => statSync(path).size / Number(await one('SELECT count(*) FROM logs')),
    close: () => {
      appender.closeSync()
      connection.closeSync()
      instance.closeSync()
    },
  }
}

/** The logs as columns, in chunks. */
function columnsOf(blocks: readonly BenchBlock[]): DuckDBValue[][][] {
  const blob = (bytes: Uint8Array) => new DuckDBBlobValue(bytes)
  const rows = blocks.flatMap(({ block, receipts }) => {
    let logIndex = 0
    return receipts.flatMap(({ logs }, transactionIndex) =>
      logs.map(({ address, topics, data }) => [
        ...[BigInt(block.header.number), logIndex++, blob(block.hash), blob(block.transactions[transactionIndex].hash)],
        ...[transactionIndex, blob(address)],
        ...[0, 1, 2, 3].map((i) => (topics[i] === undefined ? null : blob(topics[i]))),
        blob(data),
      ]),
    )
  })
  const chunks: DuckDBValue[][][] = []
  for (let start = 0; start < rows.length; start += CHUNK_ROWS) {
    const part = rows.slice(start, start + CHUNK_ROWS)
    chunks.push(part[0].map((_, column) => part.map((row) => row[column])))
  }
  return chunks
}

function toSql({ fromBlock, toBlock, address, topics }: Question): string {
  const conditions = [`block_number BETWEEN ${fromBlock} AND ${toBlock}`]
  const add = (column: string, wanted: readonly string[]) => {
    const values = wanted.map((hex) => `unhex('${hex.slice(2)}')`)
    conditions.push(values.length === 1 ? `${column} = ${values[0]}` : `${column} IN (${values.join(',')})`)
  }
  if (address !== undefined) add('address', address)
  for (const [position, wanted] of (topics ?? []).entries()) {
    if (wanted === null) conditions.push(`topic${position} IS NOT NULL`)
    else add(`topic${position}`, wanted)
  }
  return `SELECT * FROM logs WHERE ${conditions.join(' AND ')} ORDER BY block_number, log_index LIMIT ${TOO_MANY}`
}
