import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openObjectStore } from '../../src/lib/objects/openObjectStore.js'
import { listSnapshots } from '../../src/snapshots/manifest.js'
import { DATABASE_FILE } from '../../src/store/open.js'
import { runCairn, runCairnOk, spawnCairn, spawnNode } from '../support/cairn.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { copyDatabase, importFixture } from '../support/chains/fixtureDatabase.js'
import { fixtureBlockByBlock } from '../support/chains/killedImport.js'
import { checkDatabase } from '../support/compare/checkDatabase.js'
import { radosgwOfFile, SKIP_RADOSGW } from '../support/radosgw.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

const whole = temporaryDirectory({ after })
before(() => importFixture(whole))
const radosgw = radosgwOfFile({ after })

type Environment = { readonly [name: string]: string }

/** Where snapshots go, in turn: each test runs once with each. */
const PLACES = {
  directory: {
    skip: false as const,
    open: async (t: TestContext) => ({ place: join(temporaryDirectory(t), 'snapshots'), env: {} as Environment }),
  },
  radosgw: {
    skip: SKIP_RADOSGW,
    open: async () => {
      const { makeBucket, env } = await radosgw()
      return { place: `s3://${await makeBucket()}/a/prefix`, env }
    },
  },
}

for (const [kind, { skip, open }] of Object.entries(PLACES)) {
  test(`${kind}: snapshots beside a writer are whole chains of one commit, and verify`, { skip }, async (t) => {
    const { place, env } = await open(t)
    const datadir = temporaryDirectory(t)
    await importFixture(datadir)
    const key = (await runCairnOk(['keys', 'create', 'secret-team', '--datadir', datadir])).trim()
    await runCairnOk(['rewind', '--datadir', datadir, '--to', '1'])
    const importing = spawnCairn(['import', '--datadir', datadir, ...fixtureBlockByBlock(t)])
    const heads: number[] = []
    while (importing.child.exitCode === null) {
      const { code, stdout, stderr } = await runCairn(['snapshot', 'create', place, '--datadir', datadir], env)
      if (code === 1 && / has a snapshot \d+-[0-9a-f]{8} already/.test(stderr)) continue // no block came meanwhile
      assert.equal(code, 0, stderr)
      heads.push(Number(/^snapshot \d{10}-[0-9a-f]{8}, block (\d+), /.exec(stdout)![1]))
    }
    assert.equal((await importing.ended).code, 0)
    assert.ok(heads.length > 0)
    await runCairn(['snapshot', 'create', place, '--datadir', datadir, '--keep', '3'], env)
    const listed = JSON.parse(await runCairnOk(['snapshot', 'list', place, '--json'], env)) as {
      name: string
      head: { number: number }
    }[]
    assert.equal(listed[0].head.number, HEAD)
    assert.ok(listed.length <= 3 || heads.at(-1) === HEAD)
    const restored = temporaryDirectory(t)
    const stdout = await runCairnOk(['snapshot', 'restore', place, '--datadir', restored], env)
    assert.match(stdout, new RegExp(`block ${HEAD}, \\d+ MB: restored to `))
    await runCairnOk(['verify', '--datadir', restored])
    assert.equal(
      await runCairnOk(['keys', 'list', '--datadir', restored]),
      "no keys; make one with 'cairn keys create NAME'\n",
    )
    assert.equal(readFileSync(join(restored, DATABASE_FILE)).includes('secret-team'), false)
    assert.equal(readFileSync(join(restored, DATABASE_FILE)).includes(key), false)
    for (const { name, head } of listed.slice(1)) {
      const older = temporaryDirectory(t)
      await runCairnOk(['snapshot', 'restore', place, name, '--datadir', older], env)
      assert.equal(checkDatabase(older)?.number, head.number)
    }
  })

  test(`${kind}: kill -9 of create and of restore at any moment, then they resume`, { skip }, async (t) => {
    const { place, env } = await open(t)
    const store = await openObjectStore(place, {}, { ...process.env, ...env })
    const datadir = copyDatabase(t, whole)
    const random = seededRandom(7)
    const kills = THOROUGH ? 40 : 2
    for (let i = 0; i < kills && (await listSnapshots(store)).length === 0; i++) {
      await killAt(['create', datadir, place], env, 1 + random.below(34))
    }
    if ((await listSnapshots(store)).length === 0) await runToEnd(['create', datadir, place], env)
    assert.deepEqual(
      (await listSnapshots(store)).map(({ head }) => head.number),
      [HEAD],
    )

    const restored = temporaryDirectory(t)
    for (let i = 0; i < kills && !existsSync(join(restored, DATABASE_FILE)); i++) {
      await killAt(['restore', restored, place], env, 1 + random.below(18))
    }
    if (!existsSync(join(restored, DATABASE_FILE))) await runToEnd(['restore', restored, place], env)
    assert.equal(checkDatabase(restored)?.number, HEAD)
    await runCairnOk(['verify', '--datadir', restored])
  })

  test(`${kind}: of two processes that create one name, one wins and the other says so`, { skip }, async (t) => {
    const { place, env } = await open(t)
    const ended = await Promise.all(
      [copyDatabase(t, whole), copyDatabase(t, whole), copyDatabase(t, whole)].map((datadir) =>
        runCairn(['snapshot', 'create', place, 'nightly', '--datadir', datadir], env),
      ),
    )
    assert.deepEqual(ended.map(({ code }) => code).sort(), [0, 1, 1])
    for (const { code, stderr } of ended)
      if (code === 1) assert.match(stderr, /has a snapshot nightly already; nothing was replaced/)
    await runCairnOk(['snapshot', 'restore', place, 'nightly', '--datadir', temporaryDirectory(t)], env)
  })

  test(`${kind}: a damaged part is refused by its name`, { skip }, async (t) => {
    const { place, env } = await open(t)
    await runCairnOk(['snapshot', 'create', place, 'x', '--datadir', whole], env)
    const store = await openObjectStore(place, {}, { ...process.env, ...env })
    const [{ parts }] = await listSnapshots(store)
    const [{ sha256, bytes }] = parts
    await store.put(`parts/${sha256}`, Buffer.alloc(bytes, 1))
    const datadir = temporaryDirectory(t)
    const { code, stderr } = await runCairn(['snapshot', 'restore', place, '--datadir', datadir], env)
    assert.equal(code, 1)
    assert.match(stderr, new RegExp(`parts/${sha256}: part 1 of 1 of snapshot x has another SHA-256`))
    assert.equal(existsSync(join(datadir, DATABASE_FILE)), false)
  })
}

/** Runs the process and kills it once it has written that number of lines. */
async function killAt(args: readonly string[], env: Environment, lines: number): Promise<void> {
  const { child, ended } = spawnNode([PROCESS, ...args], env)
  let left = lines
  child.stdout!.on('data', (text: string) => {
    left -= text.split('\n').length - 1
    if (left <= 0) child.kill('SIGKILL')
  })
  const { code, signal, stderr } = await ended
  assert.ok(signal === 'SIGKILL' || code === 0, stderr)
}

async function runToEnd(args: readonly string[], env: Environment): Promise<void> {
  const { code, stderr } = await spawnNode([PROCESS, ...args], env).ended
  assert.equal(code, 0, stderr)
}

const PROCESS = fileURLToPath(new URL('../support/snapshotProcess.js', import.meta.url))

test('SIGINT ends create with 130; the same command resumes', async (t) => {
  const place = join(temporaryDirectory(t), 'snapshots')
  const datadir = copyDatabase(t, whole)
  const running = spawnCairn(['snapshot', 'create', place, '--datadir', datadir])
  running.child.kill('SIGINT')
  const { code, signal, stderr } = await running.ended
  assert.ok(code === 130 || signal === 'SIGINT', stderr) // before Cairn listens, the signal ends it
  await runCairnOk(['snapshot', 'create', place, '--datadir', datadir])
})

test('wrong use is named, with exit code 2', async (t) => {
  const folder = temporaryDirectory(t)
  const refused = async (args: string[], message: RegExp, env: Environment = {}) => {
    const { code, stderr } = await runCairn(['snapshot', ...args], { ...NO_AWS, ...env })
    assert.equal(code, 2, stderr)
    assert.match(stderr, message)
  }
  await refused([], /expected 'create', 'list' or 'restore'/)
  await refused(['creat', 'x'], /got 'creat'; did you mean create\?|got 'creat'/)
  await refused(['create'], /expected a directory or s3:\/\/BUCKET\/PREFIX/)
  await refused(['list', folder, 'x'], /unexpected operand 'x'/)
  await refused(['create', folder, '../x'], /expected a name of 1 to 100 letters/)
  await refused(['list', folder, '--keep', '2'], /--keep is no option of 'cairn snapshot list'/)
  await refused(['list', 's3://Bucket'], /expected s3:\/\/BUCKET\/PREFIX/)
  await refused(['list', 's3://bucket/x'], /set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/)
  await refused(['list', 's3://bucket/x', '--s3-endpoint', 'ceph'], /--s3-endpoint: expected http/)
  await refused(['create', folder, '--datadir', join(folder, 'none')], /no database at/)
  const { code, stderr } = await runCairn(['snapshot', 'restore', folder, '--datadir', join(folder, 'new')])
  assert.equal(code, 1)
  assert.match(stderr, /has no snapshot/)
  const other = join(folder, 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'notes.txt'), 'of the user')
  const inUse = await runCairn(['snapshot', 'restore', folder, '--datadir', other])
  assert.match(inUse.stderr, /is not empty: it has notes\.txt/)
  assert.deepEqual(readdirSync(other), ['notes.txt'])
  assert.match(await runCairnOk(['snapshot', 'list', folder]), /^no snapshots in /)
})

const NO_AWS = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }
