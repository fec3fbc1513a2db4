import { formatData } from '../../src/lib/hex.js'
import { openForReading } from '../../src/store/open.js'
import { startDefaultCairn } from '../../test/support/cairn.js'
import { type BenchClient, openClient } from './client.js'

/** `cairn serve` in a process of its own, with its defaults, and a client of it. */
export interface CairnUnderTest {
  url: string
  pid: number
  client: BenchClient
  /** Hash of one of its blocks, as hex. */
  hashOf(blockNumber: number): string
  stop(): Promise<void>
}

/** Serves the database of `datadir`. */
export async function serveCairn(datadir: string): Promise<CairnUnderTest> {
  const db = openForReading(datadir)
  const selectHash = db.prepare<[number], Buffer>('SELECT hash FROM blocks WHERE number = ?').pluck()
  const { url, running, stop } = await startDefaultCairn({ after: () => {} }, ['--open', '--datadir', datadir])
  const client = openClient(url)
  return {
    url,
    pid: running.child.pid!,
    client,
    hashOf: (blockNumber) => formatData(selectHash.get(blockNumber)!),
    stop: async () => {
      client.close()
      await stop()
      db.close()
    },
  }
}
