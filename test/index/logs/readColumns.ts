import assert from 'node:assert/strict'
import type { LogColumnSet } from '../../../src/index/logs/logColumnBuffers.js'
import type { ArrowColumn } from '../../../src/lib/arrow/arrowStream.js'
import type { PlacedLog } from './randomLogs.js'

/** The cell as bytes; null for null. */
function bytesAt({ validity, offsets, values }: ArrowColumn, row: number): Uint8Array | null {
  if (validity !== undefined && ((validity[row >> 3] >> (row & 7)) & 1) === 0) return null
  return values.slice(offsets![row], offsets![row + 1])
}

function numberAt({ values }: ArrowColumn, row: number): number {
  return new DataView(values.buffer, values.byteOffset).getUint32(4 * row, true)
}

/** The logs of columns as the oracle has them. */
export function readColumns({ rows, columns }: LogColumnSet): (PlacedLog & { timestamp: number })[] {
  return Array.from({ length: rows }, (_, row) => {
    const number = (name: string) => numberAt(columns[name], row)
    const data = bytesAt(columns.data, row)!
    assert.equal(number('n_data_bytes'), data.length)
    const topics = [0, 1, 2, 3].map((i) => bytesAt(columns[`topic${i}`], row))
    return {
      address: bytesAt(columns.address, row)!,
      topics: topics.filter((topic) => topic !== null),
      data,
      blockNumber: number('block_number'),
      transactionIndex: number('transaction_index'),
      transactionHash: bytesAt(columns.transaction_hash, row)!,
      logIndex: number('log_index'),
      timestamp: number('block_timestamp'),
    }
  })
}
