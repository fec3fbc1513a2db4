import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { openForReading, packagePath } from '../../src/store/open.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { runCairn, runCairnOk, startCairn } from '../support/cairn.js'
import { endOfFile } from '../support/endings.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { SKIP_GETH, serveWithGeth } from '../support/upstream/geth.js'

const GENESIS = packagePath('fixtures/chain/genesis.json')
const CHAIN = packagePath('fixtures/chain/chain.rlp')
const HEAD = 74

type After = { after(callback: () => void | Promise<void>): void }

const ending = endOfFile()
/** A database of the bundled chain, which no test changes, and all of it in ere files. */
const datadir = temporaryDirectory(ending)
let bundled = ''

before(async () => {
  await runCairnOk(['import', '--datadir', datadir, '--genesis', GENESIS, CHAIN])
  bundled = await exportEre(ending, datadir)
})

/** Exports blocks of a database to ere files. Returns their directory. */
async function exportEre(t: After, from: string, ...args: string[]): Promise<string> {
  const out = temporaryDirectory(t)
  await runCairnOk(['export', '--datadir', from, '--format', 'ere', '--out', out, ...args])
  return out
}

const ereFiles = (directory: string) => readdirSync(directory).filter((name) => name.endsWith('.ere'))

function hashAt(directory: string, number = HEAD): string {
  const db = openForReading(directory)
  try {
    return formatData(createChainReader(db).blockHash(number)!)
  } finally {
    db.close()
  }
}

describe('ere files', () => {
  it('are exported, imported with and without state, and exported again the same', async (t) => {
    const [name] = ereFiles(bundled)
    const hash = hashAt(datadir)
    assert.equal(name, `unknown-00000-${hash.slice(2, 10)}-noproofs.ere`)
    for (const state of ['execute', 'none']) {
      const copy = temporaryDirectory(t)
      await runCairnOk(['import', '--datadir', copy, '--genesis', GENESIS, '--state', state, bundled])
      assert.equal(hashAt(copy), hash)
      const again = await exportEre(t, copy)
      assert.deepEqual(readFileSync(join(again, name)), readFileSync(join(bundled, name)))
      assert.deepEqual(readFileSync(join(again, 'checksums.txt')), readFileSync(join(bundled, 'checksums.txt')))
    }
  })

  it('are imported up to a checkpoint, and not without a link to it', async (t) => {
    const first = await exportEre(t, datadir, '--blocks', '0:39')
    const second = await exportEre(t, datadir, '--blocks', `40:${HEAD}`)
    const gap = await exportEre(t, datadir, '--blocks', `41:${HEAD}`)
    const hash = hashAt(datadir)
    const importing = (directories: string[], checkpoint: string) => {
      const paths = directories.flatMap((directory) => ereFiles(directory).map((name) => join(directory, name)))
      const copy = temporaryDirectory(t)
      const args = ['import', '--datadir', copy, '--genesis', GENESIS, '--checkpoint', checkpoint, '--json', ...paths]
      return { copy, ended: runCairn(args) }
    }
    const whole = importing([first, second], hash)
    const { code, stdout, stderr } = await whole.ended
    assert.equal(code, 0, stderr)
    assert.equal(JSON.parse(stdout).head, HEAD)
    assert.match(stderr, /lead to the checkpoint/)
    assert.doesNotMatch(stderr, /only the links/)
    const part = await importing([first, second], hashAt(datadir, 50)).ended
    assert.equal(JSON.parse(part.stdout).head, 50)
    assert.match(part.stderr, /blocks after the checkpoint are not imported/)
    const unlinked = await importing([first, gap], hash).ended
    assert.notEqual(unlinked.code, 0)
    assert.match(unlinked.stderr, /begins with block 41 .* ends with block 39/)
    const unknown = await importing([first, second], `0x${'11'.repeat(32)}`).ended
    assert.match(unknown.stderr, /no block of the 2 ere files has this hash/)
  })

  it('without receipts need execution', async (t) => {
    const bare = temporaryDirectory(t)
    const file = join(bare, 'unknown-00000-00000000-noproofs-noreceipts.ere')
    writeFileSync(file, withoutReceipts(readFileSync(join(bundled, ereFiles(bundled)[0]))))
    const copy = temporaryDirectory(t)
    await runCairnOk(['import', '--datadir', copy, '--genesis', GENESIS, bare])
    assert.equal(hashAt(copy), hashAt(datadir))
    const none = ['import', '--datadir', temporaryDirectory(t), '--genesis', GENESIS, '--state', 'none', file]
    const refused = await runCairn(none)
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /needs receipts/)
  })

  it('name other e2store files and directories that have only those', async (t) => {
    const folder = temporaryDirectory(t)
    const era = join(folder, 'mainnet-01506-4781865b.era')
    writeFileSync(era, Uint8Array.from([0x65, 0x32, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 7]))
    const importing = (path: string) =>
      runCairn(['import', '--datadir', join(folder, 'db'), '--network', 'mainnet', path])
    const file = await importing(era)
    assert.match(file.stderr, /an era file of the consensus layer/)
    const directory = await importing(folder)
    assert.match(directory.stderr, /files such as mainnet-01506-4781865b.era have no blocks that can be read/)
  })
})

/** The file without its section of receipts, by the format. */
function withoutReceipts(bytes: Buffer): Buffer {
  const entries: { type: number; bytes: Buffer }[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 8 + bytes.readUInt32LE(at + 2)
    entries.push({ type: bytes.readUInt16LE(at), bytes: bytes.subarray(at, end) })
    at = end
  }
  const index = entries.pop()!.bytes
  const count = Number(index.readBigUInt64LE(index.length - 8))
  const kept = entries.filter(({ type }) => type !== 10)
  const start = kept.reduce((sum, entry) => sum + entry.bytes.length, 0)
  const offsets = new Map<number, number[]>([
    [3, []],
    [4, []],
    [6, []],
  ])
  let at = 0
  for (const { type, bytes: entry } of kept) {
    offsets.get(type)?.push(at)
    at += entry.length
  }
  const components = [...offsets.values()].filter((section) => section.length > 0)
  const numbers = [index.readBigUInt64LE(8)]
  for (let i = 0; i < count; i++) for (const section of components) numbers.push(BigInt(section[i] - start))
  numbers.push(BigInt(components.length), BigInt(count))
  const out = Buffer.alloc(8 + 8 * numbers.length)
  out.writeUInt16LE(0x3267, 0)
  out.writeUInt32LE(8 * numbers.length, 2)
  for (const [i, number] of numbers.entries()) out.writeBigInt64LE(number, 8 + 8 * i)
  return Buffer.concat([...kept.map((entry) => entry.bytes), out])
}

describe('ere files beside geth', { skip: SKIP_GETH }, () => {
  const geth = (directory: string, ...args: string[]) => {
    const { status, stderr } = spawnSync('geth', ['--datadir', directory, '--state.scheme=hash', ...args], {
      encoding: 'utf8',
    })
    assert.equal(status, 0, `geth ${args.join(' ')}: ${stderr}`)
    return stderr
  }

  it('are byte for byte those of geth, and each imports those of the other', async (t) => {
    const [name] = ereFiles(bundled)
    const node = temporaryDirectory(t)
    geth(node, 'init', GENESIS)
    geth(node, '--gcmode=archive', 'import', CHAIN)
    const theirs = join(temporaryDirectory(t), 'history')
    geth(node, 'export-history', '--era.format', 'ere', theirs, '0', String(HEAD))
    assert.deepEqual(readdirSync(theirs).sort(), readdirSync(bundled).sort())
    assert.deepEqual(readFileSync(join(theirs, name)), readFileSync(join(bundled, name)))

    const copy = temporaryDirectory(t)
    await runCairnOk(['import', '--datadir', copy, '--genesis', GENESIS, theirs])
    assert.equal(hashAt(copy), hashAt(datadir))

    // geth looks for files of a network that it knows.
    const named = join(temporaryDirectory(t), 'named')
    mkdirSync(named)
    cpSync(bundled, named, { recursive: true })
    renameSync(join(named, name), join(named, name.replace('unknown', 'mainnet')))
    const importer = temporaryDirectory(t)
    geth(importer, 'init', GENESIS)
    geth(importer, 'import-history', '--era.format', 'ere', named)
    // The imported blocks are behind geth's head, which needs state: they are there by number.
    const url = await serveWithGeth(t, { datadir: importer, genesis: GENESIS })
    const server = await startCairn(t, ['--open', '--datadir', datadir])
    for (const method of ['debug_getRawBlock', 'debug_getRawReceipts']) {
      for (let number = 1; number <= HEAD; number++) {
        const params = [formatQuantity(number)]
        assert.deepEqual(await resultOf(url, method, params), await resultOf(server.url, method, params))
      }
    }
  })
})
