import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatData } from '../../src/lib/hex.js'
import { openForReading } from '../../src/store/open.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { spawnCairn, startDefaultCairn } from '../../test/support/cairn.js'
import { quantile } from '../lib/client.js'
import type { ServedChain } from './fullChain.js'
import { openHeadNotices } from './notices.js'

/** How long after a commit of `cairn sync` a subscriber of the `cairn serve` beside it is notified of the block, and
 *  how long after the upstream's subscriber. Milliseconds. */
export interface CommitFigures {
  blocks: number
  commitToSubscriber: Quantiles
  upstreamToSubscriber: Quantiles
}

interface Quantiles {
  p50: number
  p99: number
  max: number
}

const BLOCK_EVERY_MS = 60

/** Grows the upstream's chain by full blocks, which `cairn sync` follows. */
export async function measureCommits(
  { chain, upstream }: ServedChain,
  { directory, blocks }: { directory: string; blocks: number },
): Promise<CommitFigures> {
  const datadir = join(directory, 'commits')
  const sync = spawnCairn(['sync', '--datadir', datadir, '--genesis', chain.genesis, '--upstream', upstream.socketUrl])
  await sync.waitFor('stderr', /"msg":"following"/)
  const server = await startDefaultCairn({ after() {} }, ['--datadir', datadir, '--open'])
  const [theirs, ours] = await Promise.all([upstream, server].map(({ socketUrl }) => openHeadNotices(socketUrl)))
  const db = openForReading(datadir)
  const reader = createChainReader(db)
  const committed: number[] = []
  const [fromCommit, fromUpstream]: number[][] = [[], []]
  let ends = false
  // A commit of another process causes no event, so the loop polls the connection.
  const watching = (async () => {
    for (let head = reader.head()!; !ends; await new Promise(setImmediate)) {
      const now = reader.head()!
      for (; head < now; head++) committed[head + 1] = performance.now()
    }
  })()
  for (let i = 0; i < blocks; i++) {
    const { hash, header } = await chain.grow()
    const [notified, noticed] = await Promise.all([ours.at(formatData(hash)), theirs.at(formatData(hash))])
    while (committed[header.number] === undefined) await sleep(1)
    fromCommit.push(Math.max(0, notified - committed[header.number]))
    fromUpstream.push(notified - noticed)
    await sleep(BLOCK_EVERY_MS)
    process.stderr.write(`\rblock ${i + 1} of ${blocks}`)
  }
  process.stderr.write('\n')
  ends = true
  await watching
  db.close()
  for (const each of [theirs, ours]) each.close()
  await server.stop()
  sync.child.kill('SIGTERM')
  await sync.ended
  return { blocks, commitToSubscriber: quantilesOf(fromCommit), upstreamToSubscriber: quantilesOf(fromUpstream) }
}

function quantilesOf(values: number[]): Quantiles {
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(values, share))
  return { p50, p99, max }
}
