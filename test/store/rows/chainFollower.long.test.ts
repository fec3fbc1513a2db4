import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatData } from '../../../src/lib/hex.js'
import { openForReading } from '../../../src/store/open.js'
import { type BlockChange, ChainFollower, ChangesMissed } from '../../../src/store/rows/chainFollower.js'
import { openInventedChain } from '../../support/chains/inventedChain.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

async function openFollowed(t: Parameters<typeof temporaryDirectory>[0] & { after(end: () => void): void }) {
  const datadir = temporaryDirectory(t)
  const chain = await openInventedChain(datadir, { random: seededRandom(3), logsPerBlock: 3 })
  const db = openForReading(datadir)
  t.after(() => {
    db.close()
    chain.close()
  })
  const follower = new ChainFollower(db)
  follower.start()
  return { chain, follower }
}

test('whatever changed between two polls, the changes lead from the reported chain to the current chain', async (t) => {
  const { chain, follower } = await openFollowed(t)
  const random = seededRandom(4)
  const followed = [formatData(chain.blocks[0].block.hash)]
  const apply = ({ kind, block, logs }: BlockChange) => {
    const hash = formatData(block.hash)
    for (const { position } of logs) assert.equal(formatData(position.blockHash), hash)
    if (kind === 'added') followed.push(hash)
    else followed.splice(followed.indexOf(hash), 1)
  }
  for (let round = 0; round < 60; round++) {
    for (let i = random.below(5); i >= 0; i--) {
      chain.change(random.below(Math.min(7, chain.blocks.length - 1)), random.below(6))
    }
    // Sometimes in the middle of reporting.
    for (let left = random.below(20); left > 0 || round === 59; left--) {
      const change = follower.next()
      if (change === undefined) break
      apply(change)
    }
  }
  assert.deepEqual(
    followed,
    chain.blocks.map(({ block }) => formatData(block.hash)),
  )
  assert.equal(follower.isStale(), false)
  chain.change(0, 1)
  assert.equal(follower.isStale(), true)
})

test('the removed blocks of a reorg come first, the lowest first, with their logs as they were', async (t) => {
  const { chain, follower } = await openFollowed(t)
  chain.change(0, 4)
  const added = Array.from({ length: 4 }, () => follower.next()!)
  assert.equal(follower.next(), undefined)
  chain.change(2, 1)
  const changes = Array.from({ length: 3 }, () => follower.next()!)
  const numbers = changes.map(({ kind, block }) => [kind, 'header' in block ? block.header.number : block.number])
  assert.deepEqual(numbers, [
    ['removed', 3],
    ['removed', 4],
    ['added', 3],
  ])
  const before = added.slice(2).flatMap(({ logs }) => [...logs])
  const after = changes.slice(0, 2).flatMap(({ logs }) => [...logs])
  assert.deepEqual(after, before)
  assert.ok(after.length > 0)
})

test('more removed blocks than the database keeps are said to be missed', async (t) => {
  const { chain, follower } = await openFollowed(t)
  chain.change(0, 3)
  while (follower.next() !== undefined);
  for (let i = 0; i < 42; i++) chain.change(i === 0 ? 3 : 100, 100)
  assert.throws(() => {
    while (follower.next() !== undefined);
  }, ChangesMissed)
  follower.start()
  chain.change(0, 1)
  assert.equal(follower.next()?.kind, 'added')
  assert.equal(follower.next(), undefined)
})

test('a mark divides the changes into those committed before it and after it, wherever the follower is', async (t) => {
  const { chain, follower } = await openFollowed(t)
  const random = seededRandom(5)
  const hashes = () => chain.blocks.map(({ block }) => formatData(block.hash))
  for (let round = 0; round < 80; round++) {
    for (let i = random.below(4); i >= 0; i--) {
      chain.change(random.below(Math.min(7, chain.blocks.length - 1)), random.below(6))
    }
    const changes: BlockChange[] = []
    const reportSome = (count: number) => {
      for (let left = count; left > 0; left--) {
        const change = follower.next()
        if (change === undefined) break
        changes.push(change)
        afterMark.push(mark?.precedes(change) ?? false)
      }
    }
    const afterMark: boolean[] = []
    let mark: ReturnType<typeof follower.mark> | undefined
    reportSome(random.below(4))
    if (random.below(2)) chain.change(random.below(Math.min(4, chain.blocks.length - 1)), random.below(4))
    mark = follower.mark()
    // The change that is being reported at this moment was committed before.
    if (changes.length > 0) assert.equal(mark.precedes(changes.at(-1)!), false)
    const before = new Set(hashes())
    reportSome(random.below(3))
    chain.change(random.below(Math.min(7, chain.blocks.length - 1)), random.below(6))
    reportSome(Number.POSITIVE_INFINITY)
    chain.change(random.below(Math.min(7, chain.blocks.length - 1)), random.below(6))
    reportSome(Number.POSITIVE_INFINITY)
    const fresh: string[] = []
    for (const [i, { kind, block }] of changes.entries()) {
      if (!afterMark[i]) continue
      const hash = formatData(block.hash)
      if (kind === 'added') fresh.push(hash)
      else if (fresh.includes(hash)) fresh.splice(fresh.indexOf(hash), 1)
      else assert.ok(before.has(hash), `round ${round}: a block is removed that was never there`)
    }
    assert.deepEqual(
      fresh,
      hashes().filter((hash) => !before.has(hash)),
      `round ${round}`,
    )
  }
})
