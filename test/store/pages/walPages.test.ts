import assert from 'node:assert/strict'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { DATABASE_FILE } from '../../../src/store/open.js'
import { WalPages } from '../../../src/store/pages/walPages.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { appendBlocks, awkwardLogs, createPagedDatabase, openCheckpoints } from './pageChains.js'

const PAGE_BYTES = 512

type Frames = ReadonlyMap<number, { readonly frame: number; readonly content: Buffer }>

/** The last frame of each page in a write-ahead log, by the format of its file. */
function readFrames(path: string): Frames {
  const wal = readFileSync(`${path}-wal`)
  const frames = new Map<number, { frame: number; content: Buffer }>()
  const salts = wal.subarray(16, 24)
  for (let frame = 1, at = 32; at < wal.length; frame++, at += 24 + PAGE_BYTES) {
    if (!wal.subarray(at + 8, at + 16).equals(salts)) break
    frames.set(wal.readUInt32BE(at), { frame, content: wal.subarray(at + 24, at + 24 + PAGE_BYTES) })
  }
  return frames
}

/** The descriptors of a database's log and index; closed when the test ends, after its connections. */
function openLog(t: TestContext, path: string): { wal: number; walIndex: number } {
  const [wal, walIndex] = [openSync(`${path}-wal`, 'r'), openSync(`${path}-shm`, 'r')]
  t.after(() => {
    closeSync(wal)
    closeSync(walIndex)
  })
  return { wal, walIndex }
}

/** Compares with the pages of frames after `copied`. Returns their number. */
function check(pages: WalPages, frames: Frames, copied: number): number {
  assert.ok(pages.update())
  const largest = Math.max(0, ...frames.keys())
  const isWaiting = (page: number) => (frames.get(page)?.frame ?? 0) > copied
  let count = 0
  for (let page = 1; page <= largest; page++) {
    assert.equal(pages.has(page), isWaiting(page), `page ${page}`)
    if (!isWaiting(page)) continue
    count++
    assert.deepEqual(pages.readNewest(page), frames.get(page)!.content)
  }
  return count
}

test('the WAL index names the pages of the frames that are not copied', (t) => {
  const random = seededRandom(1)
  const datadir = temporaryDirectory(t)
  const path = join(datadir, DATABASE_FILE)
  const writer = createPagedDatabase(datadir, PAGE_BYTES)
  appendBlocks(writer, awkwardLogs(random, 400))
  const index = openLog(t, path)
  const known = new WalPages(index, PAGE_BYTES)
  const checkpoints = openCheckpoints(datadir)
  const reader = openCheckpoints(datadir)
  let copied = 0
  let most = 0
  for (let i = 0; i < 70; i++) {
    const frames = readFrames(path)
    most = Math.max(most, ...Array.from(frames.values(), ({ frame }) => frame))
    check(known, frames, copied)
    check(new WalPages(index, PAGE_BYTES), frames, copied)
    writer.prepare('UPDATE logs SET tx_index = 1 - tx_index % 2 WHERE id % 17 = ?').run(random.below(17))
    if (i === 45) reader.exec('BEGIN; SELECT 1 FROM blocks')
    if (i === 50 || i === 55) {
      const [{ log, checkpointed }] = checkpoints.pragma('wal_checkpoint(PASSIVE)') as [
        { log: number; checkpointed: number },
      ]
      assert.ok(checkpointed < log) // the reader needs the rest
      copied = checkpointed
    }
    if (i === 62) {
      reader.exec('COMMIT')
      checkpoints.pragma('wal_checkpoint(TRUNCATE)')
      copied = 0
    }
  }
  // Page numbers in three blocks of the index.
  assert.ok(most > 2 * 4_096, `${most}`)
  for (const db of [reader, checkpoints, writer]) db.close()
})

test('a log that began again and is longer than before is read from its start', (t) => {
  const datadir = temporaryDirectory(t)
  const path = join(datadir, DATABASE_FILE)
  const writer = createPagedDatabase(datadir, PAGE_BYTES)
  appendBlocks(writer, awkwardLogs(seededRandom(3), 100))
  writer.pragma('wal_checkpoint(TRUNCATE)')
  const index = openLog(t, path)
  const pages = new WalPages(index, PAGE_BYTES)
  const write = writer.prepare('UPDATE logs SET tx_index = 1 - tx_index % 2 WHERE id >= ? AND id < ?')
  write.run(0, 60)
  const frames = readFrames(path)
  const count = check(pages, frames, 0)
  assert.ok(count > 3, `${count}`)
  assert.ok(pages.isSameLog())
  writer.pragma('wal_checkpoint(TRUNCATE)')
  write.run(100, 300)
  assert.ok(!pages.isSameLog())
  for (const page of frames.keys()) assert.equal(pages.readNewest(page), undefined)
  assert.ok(check(pages, readFrames(path), 0) > 2 * count)
  writer.close()
})

test('an index that is being written, damaged, cut or of another page size is not read', (t) => {
  const datadir = temporaryDirectory(t)
  const writer = createPagedDatabase(datadir, PAGE_BYTES)
  appendBlocks(writer, awkwardLogs(seededRandom(2), 20))
  const whole = readFileSync(join(datadir, `${DATABASE_FILE}-shm`))
  writer.close()
  const copy = join(datadir, 'index')
  const isRead = (bytes: Uint8Array, pageBytes = PAGE_BYTES) => {
    writeFileSync(copy, bytes)
    const walIndex = openSync(copy, 'r')
    try {
      return new WalPages({ wal: -1, walIndex }, pageBytes).update()
    } finally {
      closeSync(walIndex)
    }
  }
  assert.ok(isRead(whole))
  assert.ok(!isRead(whole, 1_024))
  for (let at = 0; at < 96; at++) {
    const flipped = Buffer.from(whole)
    flipped[at] ^= 1
    assert.ok(!isRead(flipped), `byte ${at}`)
    flipped[(at + 48) % 96] ^= 1
    assert.ok(!isRead(flipped), `bytes ${at} and ${(at + 48) % 96}`)
  }
  for (const length of [0, 95, 135, 136, 140]) assert.ok(!isRead(whole.subarray(0, length)), `${length} bytes`)
  assert.ok(!isRead(new Uint8Array(whole.length)))
})
