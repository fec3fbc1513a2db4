import { inflateSync } from 'node:zlib'
import { InvalidL2Recording } from '../chain/starknet/recording/fields.js'
import { readL2Recording } from '../chain/starknet/recording/recording.js'
import type { L2Block } from '../chain/starknet/types.js'
import { parseJsonExact } from '../lib/json.js'
import type { Progress } from '../lib/progress.js'
import type { Database } from '../store/database.js'
import { createL2EventWriter, createNotIndexedBlocks } from '../store/l2/l2EventRows.js'

// Recordings per transaction: about 100 ms.
const BLOCKS = 20

/** True if some canonical layer-2 block has no index of its events. */
export function hasNotIndexedEvents(db: Database): boolean {
  return createNotIndexedBlocks(db)(-1, 1).length > 0
}

/** Indexes the events of layer-2 blocks that an older version stored, from their recordings. An interrupted run can be
 *  resumed. `progress` receives the number of blocks. Returns how many were indexed; recordings without events stay as
 *  they are. */
export async function indexL2Events(
  db: Database,
  { progress, signal }: { progress: Progress; signal?: AbortSignal },
): Promise<{ indexed: number; interrupted: boolean }> {
  const notIndexed = createNotIndexedBlocks(db)
  const events = createL2EventWriter(db)
  let indexed = 0
  let done = 0
  const step = db.transaction((after: number): number | undefined => {
    const rows = notIndexed(after, BLOCKS)
    for (const { raw } of rows) {
      const block = raw === null ? undefined : readRecording(raw)
      if (block !== undefined && events.put(block)) indexed++
    }
    done += rows.length
    return rows.at(-1)?.number
  })
  for (let last = step(-1); last !== undefined; last = step(last)) {
    progress.update(done)
    await new Promise(setImmediate) // signals are delivered only between transactions
    if (signal?.aborted) return { indexed, interrupted: true }
  }
  return { indexed, interrupted: false }
}

/** Returns the events; undefined for a recording that lacks parts of the block. */
function readRecording(raw: Uint8Array): L2Block | undefined {
  try {
    return readL2Recording(parseJsonExact(inflateSync(raw).toString()))
  } catch (error) {
    if (error instanceof InvalidL2Recording) return undefined
    throw error
  }
}
