import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { listOptions } from '../../src/cli/config.js'
import { COMMANDS, envName } from '../../src/cli/options/option.js'
import { parseArgs } from '../../src/cli/parseArgs.js'
import { silentLogger } from '../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { openContext } from '../../src/rpc/core/openContext.js'
import { runMethod } from '../../src/rpc/core/runCall.js'
import { METHODS } from '../../src/rpc/methods.js'
import { openForReading, packagePath } from '../../src/store/open.js'
import { importFiles, readGenesisFile } from '../../src/sync/import/importFiles.js'
import { temporaryDirectory } from '../support/temporary.js'

const readPage = (name: string) => readFileSync(packagePath(name), 'utf8')
const readme = readPage('README.md')
const operators = readPage('docs/operators.md')

const GUIDES = [
  'README.md',
  ...[
    'operators',
    'development-nodes',
    'embedding',
    'replication',
    'troubleshooting',
    'upgrading',
    'sql',
    'decoding',
  ].map((name) => `docs/${name}.md`),
]

// Options of npm, anvil, curl, geth, node, npx and systemctl.
const FOREIGN_FLAGS =
  '--prefix --init --prune-history --http2 --input-type --build-from-source --now --save-dev --ignore-scripts --gcmode --state.scheme --iterative'.split(
    ' ',
  )

function fencedAfter(start: number, language: string): string {
  const found = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(readme.slice(start))
  assert.ok(found, `no ${language} block`)
  return found[1]
}

test('the request of the first screen has the answer that is shown', async (t) => {
  const start = readme.indexOf('KEY=$(cat data/start-key)') - 6
  const request = JSON.parse(/-d '([\s\S]*)'/.exec(fencedAfter(start, 'sh'))![1])
  const answer = JSON.parse(fencedAfter(start, 'json'))
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(close)
  const outcome = await runMethod(METHODS.get(request.method)!, request.params, context)
  assert.ok('result' in outcome)
  assert.deepEqual(JSON.parse(Buffer.from(outcome.result).toString()), answer.result)
})

test('options and environment variables that the pages name exist', () => {
  const options = listOptions().map(([, option]) => option)
  const flags = new Set([...options.map(({ flag }) => `--${flag}`), '--help', ...FOREIGN_FLAGS])
  const deployed = ['nats.conf', 'haproxy.cfg'].flatMap(
    (name) => readPage(`deploy/scaling/${name}`).match(/CAIRN_[A-Z0-9_]+/g)!,
  )
  const variables = new Set([...options.map(envName), ...deployed])
  for (const page of [
    ...GUIDES,
    'CHANGELOG.md',
    'SECURITY.md',
    'docs/architecture.md',
    'docs/schema.md',
    'docs/verification.md',
  ]) {
    // Without options of scripts and of other programs.
    const text = readPage(page).replace(/`npm run [^`]*`|^geth .*$/gm, '')
    for (const [flag] of text.matchAll(/(?<![\w-])--[a-z][a-z0-9-]+/g)) assert.ok(flags.has(flag), `${page}: ${flag}`)
    for (const [name] of text.matchAll(/\bCAIRN_[A-Z0-9_]+/g)) assert.ok(variables.has(name), `${page}: ${name}`)
  }
})

test('the limits that operators read are the defaults', () => {
  const section = operators.split(/^## /m).find((text) => text.startsWith('Limits and errors\n'))!
  const shown = (flag: string) => new RegExp(`\\| ([^|]+) \\| \`--${flag}\``).exec(section)?.[1]
  assert.equal(shown('max-logs'), DEFAULT_LIMITS.maxLogs.toLocaleString('en'))
  assert.equal(shown('max-filter-params'), DEFAULT_LIMITS.maxFilterParams.toLocaleString('en'))
  assert.equal(shown('logs-timeout'), `${DEFAULT_LIMITS.logsTimeoutMs / 1000} s`)
  assert.equal(shown('call-timeout'), `${DEFAULT_LIMITS.callTimeoutMs / 1000} s`)
  assert.equal(shown('gas-cap'), `${DEFAULT_LIMITS.gasCapPercent.toLocaleString('en')} % of the block's limit`)
})

test('command lines of the guides parse', () => {
  let count = 0
  for (const page of GUIDES) {
    for (const [, block] of readPage(page).matchAll(/^```sh\n([\s\S]*?)^```/gm)) {
      for (const [, command, rest] of block.matchAll(/^(?:node dist\/cli\/main\.js|cairn) (\S+) ?([^#>&\n]*)/gm)) {
        const name = COMMANDS.find((candidate) => candidate === command)
        assert.ok(name, `${page}: ${command}`)
        const words = Array.from(rest.matchAll(/'([^']*)'|\S+/g), ([word, quoted]) => quoted ?? word)
        assert.doesNotThrow(() => parseArgs(name, words, {}), `${page}: ${command} ${rest}`)
        count++
      }
    }
  }
  assert.ok(count > 10, `${count}`)
})

test('every figure of the README is on the page of benchmarks, and so is the command that measures it', () => {
  const section = readme.split(/^## /m).find((text) => text.startsWith('Numbers\n'))!
  const benchmarks = readPage('docs/benchmarks.md')
  const figures = section.matchAll(/(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w])/g)
  const known = new Set(Array.from(benchmarks.matchAll(/(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w])/g), ([figure]) => figure))
  const shown = Array.from(figures, ([figure]) => figure)
  assert.ok(shown.length >= 12, shown.join(' '))
  assert.deepEqual(
    shown.filter((figure) => !known.has(figure)),
    [],
  )
  for (const [, command] of section.matchAll(/`(npm run [^`]+)`/g)) assert.ok(benchmarks.includes(command), command)
})

test('the queries that analysts begin with have rows on the bundled chain', async (t) => {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const db = openForReading(datadir)
  t.after(() => void db.close())
  const queries = Array.from(readPage('docs/sql.md').matchAll(/cairn\.db "((?:[^"\\]|\\")+)"/g), ([, sql]) => sql)
  assert.equal(queries.length, 3)
  for (const sql of queries) assert.ok(db.prepare(sql.replaceAll('\\"', '"')).all().length > 0, sql)
})

function importFixture(datadir: string) {
  return importFiles({
    datadir,
    paths: [packagePath('fixtures/chain/chain.rlp')],
    chain: readGenesisFile(packagePath('fixtures/chain/genesis.json')),
    log: silentLogger,
    showProgress: false,
  })
}
