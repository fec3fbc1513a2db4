import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { CairnError } from '../../src/lib/errors.js'
import { silentLogger } from '../../src/lib/logger.js'
import { type FileKind, importFiles, readGenesisFile } from '../../src/sync/import/importFiles.js'
import { buildEra1, exampleEraBlocks } from '../support/chains/era1File.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { verifyHere } from '../support/chains/l2.js'
import { mutate } from '../support/chains/mutate.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Files with random faults: each is imported, or refused by an error of ours that a person can read. CAIRN_FUZZ_RUNS
 * and CAIRN_FUZZ_SEED make it longer and other. */

const RUNS = Number(process.env.CAIRN_FUZZ_RUNS ?? 15)
const SEED = Number(process.env.CAIRN_FUZZ_SEED ?? 1)

const fixture = (name: string) => new Uint8Array(readFileSync(join(FIXTURE_FOLDER, name)))
const genesisPath = join(FIXTURE_FOLDER, 'genesis.json')

/** What may be wrong with the words of an error: a leak of the language's own errors, or more than a person reads. */
function requireReadable(error: unknown, what: string): void {
  const shown = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  assert.ok(error instanceof CairnError, `${what}: ${error instanceof Error ? error.stack : shown}`)
  assert.doesNotMatch(error.message, /call stack|Invalid array|Invalid typed|heap|undefined|\[object|NaN|BigInt/, what)
  assert.ok(error.message.length < 1500, `${what}: ${shown.length} characters: ${shown.slice(0, 300)}`)
}

interface Subject {
  name: string
  bytes: Uint8Array
  kind: FileKind
  stateMode?: 'none'
}

const SUBJECTS: Subject[] = [
  { name: 'chain.rlp', bytes: fixture('chain.rlp').subarray(0, 40_000), kind: 'chain-rlp' },
  { name: 'chain.rlp.gz', bytes: gzipSync(fixture('chain.rlp').subarray(0, 40_000)), kind: 'chain-rlp' },
  { name: 'blocks.era1', bytes: buildEra1(exampleEraBlocks(6)), kind: 'era1', stateMode: 'none' },
  { name: 'blocks.era1.gz', bytes: gzipSync(buildEra1(exampleEraBlocks(6))), kind: 'era1', stateMode: 'none' },
  { name: 'l2.ndjson', bytes: fixture('l2.ndjson'), kind: 'starknet' },
  { name: 'l2.ndjson.gz', bytes: gzipSync(fixture('l2.ndjson')), kind: 'starknet' },
]

for (const { name, bytes, kind, stateMode } of SUBJECTS) {
  test(`${name} with faults is imported, or refused by name`, async (t) => {
    const random = seededRandom(SEED * 1000 + bytes.length)
    const path = join(temporaryDirectory(t), name)
    let refused = 0
    for (let run = 0; run < RUNS; run++) {
      writeFileSync(path, mutate(bytes, random))
      const options = { datadir: temporaryDirectory(t), paths: [path], log: silentLogger, showProgress: false }
      try {
        // The kind of every fourth file is detected, that of the others is passed.
        const passedKind = run % 4 === 0 ? undefined : kind
        await importFiles({
          ...options,
          kind: passedKind,
          chain: readGenesisFile(genesisPath),
          stateMode,
          l2Verify: verifyHere,
        })
      } catch (error) {
        refused++
        requireReadable(error, `${name}, run ${run} of seed ${SEED}`)
      }
    }
    assert.ok(refused > RUNS / 4, `${refused} of ${RUNS} were refused`)
  })
}

test('genesis.json with faults is read, or refused by name', async (t) => {
  const random = seededRandom(SEED * 1000)
  const folder = temporaryDirectory(t)
  const [genesis, chain] = [join(folder, 'genesis.json'), join(folder, 'chain.rlp')]
  writeFileSync(chain, fixture('chain.rlp').subarray(0, 3000))
  let refused = 0
  for (let run = 0; run < RUNS; run++) {
    writeFileSync(genesis, mutate(fixture('genesis.json'), random))
    try {
      const options = { datadir: temporaryDirectory(t), paths: [chain], log: silentLogger, showProgress: false }
      await importFiles({ ...options, kind: 'chain-rlp', chain: readGenesisFile(genesis) })
    } catch (error) {
      refused++
      requireReadable(error, `genesis.json, run ${run} of seed ${SEED}`)
    }
  }
  assert.ok(refused > RUNS / 4, `${refused} of ${RUNS} were refused`)
})

test('gzip that unpacks to gigabytes is refused by what it begins with, and is not available in memory', async (t) => {
  const folder = temporaryDirectory(t)
  const zeros = gzipSync(new Uint8Array(64 * 2 ** 20))
  const bomb = Buffer.concat(Array.from({ length: 64 }, () => zeros)) // 4 GiB of 4 MB
  const line = fixture('l2.ndjson')
  const cases: [string, Buffer, FileKind, RegExp][] = [
    [
      'chain.gz',
      gzipSync(fixture('chain.rlp').subarray(0, 3000)),
      'chain-rlp',
      /at byte \d+ \(block \d+ of the file\)/,
    ],
    [
      'l2.gz',
      gzipSync(line),
      'starknet',
      /the line has at least \d+ bytes, the limit of a recording is 33554432 bytes/,
    ],
  ]
  const before = process.memoryUsage().rss
  for (const [name, head, kind, message] of cases) {
    const path = join(folder, name)
    writeFileSync(path, Buffer.concat([head, bomb]))
    const datadir = temporaryDirectory(t)
    const options = { datadir, paths: [path], kind, log: silentLogger, showProgress: false }
    await assert.rejects(importFiles({ ...options, chain: readGenesisFile(genesisPath) }), (error: unknown) => {
      requireReadable(error, name)
      assert.match((error as Error).message, message)
      return true
    })
  }
  assert.ok(process.memoryUsage().rss - before < 500 * 2 ** 20)
})
