import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { listOptions } from '../../../src/cli/config.js'
import { parseConfig, readConfigFile } from '../../../src/cli/configFile/configFile.js'
import { COMMANDS, type Command } from '../../../src/cli/options/option.js'
import { parseArgs } from '../../../src/cli/parseArgs.js'
import { UsageError } from '../../../src/lib/errors.js'
import { packagePath } from '../../../src/store/open.js'
import { spawnProgram } from '../../support/cairn.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'

const toml = (text: string, command: Command = 'serve') => parseConfig(command, 'c.toml', text)
const json = (text: string, command: Command = 'serve') => parseConfig(command, 'c.json', text)

function refuses(run: () => unknown, message: RegExp): void {
  assert.throws(run, (error: Error) => {
    assert.ok(error instanceof UsageError)
    assert.match(error.message, message)
    assert.ok(!error.message.includes('\n') && !error.message.includes('s3cret'), error.message)
    return true
  })
}

test('the section of the command overrides the top, and other sections do not count', () => {
  const text =
    'datadir = "/a"\nport = 1\n[serve]\nport = 2\nopen = true\npage = false\n[status]\ndatadir = "/b"\njson = true\n'
  assert.deepEqual(toml(text), { CAIRN_DATADIR: '/a', CAIRN_PORT: '2', CAIRN_OPEN: 'on', CAIRN_PAGE: 'off' })
  assert.deepEqual(toml(text, 'status'), { CAIRN_DATADIR: '/b', CAIRN_JSON: 'on' })
  assert.deepEqual(toml(text, 'verify'), { CAIRN_DATADIR: '/a' })
  assert.deepEqual(toml(''), {})
})

test('command line, environment, file and default, in this order', () => {
  const env = toml('port = 1\nhost = "1.1.1.1"\nmax-logs = 5\nupstream = ["http://a", "http://b"]')
  const all = { ...env, CAIRN_HOST: '2.2.2.2', CAIRN_PORT: '2' }
  const { config } = parseArgs('serve', ['--port', '3'], all)
  assert.deepEqual([config.port, config.host, config.maxLogs, config.callTimeout > 0], [3, '2.2.2.2', 5, true])
  assert.deepEqual(config.upstream, ['http://a', 'http://b'])
  assert.deepEqual(parseArgs('serve', ['--upstream', 'http://c'], all).config.upstream, ['http://c'])
})

test('what is wrong is named with file, line and the likeliest name', () => {
  refuses(
    () => toml('\n[serve]\nport = 1\nprot = 2'),
    /^c\.toml:4: unknown option prot \(did you mean port\?\); see 'cairn help serve'$/,
  )
  refuses(() => toml('prot = 2'), /^c\.toml:1: unknown option prot \(did you mean port\?\); see 'cairn help COMMAND'$/)
  refuses(() => toml('max_logs = 2'), /did you mean max-logs\?/)
  refuses(() => toml('#\n[serv]'), /^c\.toml:2: unknown section \[serv\] \(did you mean serve\?\)/)
  refuses(
    () => toml('[status]\nport = 1', 'verify'),
    /^c\.toml:2: port is no option of 'cairn status', but of 'cairn serve'$/,
  )
  refuses(() => toml('[serve]\nconfig = "x"'), /^c\.toml:2: unknown option config/)
  refuses(() => toml('port = 99999'), /^c\.toml:1: port: expected a whole number from 0 to 65535, got "99999"$/)
  refuses(() => toml('log-level = "loud"'), /^c\.toml:1: log-level: expected debug/)
  refuses(() => toml('host = ""'), /^c\.toml:1: host needs a value$/)
  refuses(() => toml('port = 1\nport = 2'), /^c\.toml:2: /)
  refuses(() => toml('upstream-header = "s3cret"\nupstream-header = "s3cret"'), /^c\.toml:2: /)
  refuses(() => toml('host = "s3cret'), /^c\.toml:1: /)
  refuses(
    () => toml('upstream-header = "s3cret"'),
    /^c\.toml:1: upstream-header: expected 'Name: value', got something else$/,
  )
  refuses(() => json('{\n"port": 1,\n"port": 2}'), /^c\.json:3: port is there twice$/)
  refuses(() => json('{"serve": {"port": 1,\n\n"po\\u0072t": 2}}'), /^c\.json:3: port is there twice$/)
  refuses(
    () => json('{\n"serve": {"open": true,\n"prot": 2}}'),
    /^c\.json:3: unknown option prot \(did you mean port\?\)/,
  )
  refuses(() => json('{"host": s3cret}'), /^c\.json(:1)?: invalid JSON$/)
  refuses(() => json('[]'), /^c\.json:1: expected an object$/)
})

test('wrong types are errors that do not show the value', () => {
  const wrong = (line: string, problem: RegExp) => refuses(() => toml(`#\n${line}`), problem)
  wrong('port = "s3cret"', /^c\.toml:2: port: expected a whole number, got a string$/)
  wrong('port = 1.5', /got a number$/)
  wrong('port = true', /^c\.toml:2: port: expected a whole number, got true or false$/)
  wrong('open = "s3cret"', /^c\.toml:2: open: expected true or false, got a string$/)
  wrong('page = 1', /^c\.toml:2: page: expected true or false, got a whole number$/)
  wrong('host = 5', /^c\.toml:2: host: expected a string, got a whole number$/)
  wrong('host = ["s3cret"]', /^c\.toml:2: host: expected a string, got an array$/)
  wrong('host = 2026-11-28', /got a date$/)
  wrong('upstream = [1]', /^c\.toml:2: upstream: expected a string or an array of strings, got an array$/)
  wrong('[serve]\nhost = { s3cret = 1 }', /^c\.toml:3: host: expected a string, got an object$/)
  assert.deepEqual(toml('from = 100', 'sync'), { CAIRN_FROM: '100' })
  assert.deepEqual(toml('from = "latest"', 'sync'), { CAIRN_FROM: 'latest' })
})

test('a name that options of several commands share is checked against that of the command', () => {
  assert.deepEqual(toml('format = "table"', 'sql'), { CAIRN_FORMAT: 'table' })
  assert.deepEqual(toml('format = "parquet"', 'export'), { CAIRN_FORMAT: 'parquet' })
  assert.deepEqual(toml('format = "parquet"', 'serve'), {})
  refuses(() => toml('format = "parquet"', 'sql'), /^c\.toml:1: format: expected/)
  refuses(() => toml('format = "nonsense"', 'serve'), /^c\.toml:1: format: expected/)
})

/** Lines of a file with random values of random options, and the environment that they stand for. */
function randomFile(random: SeededRandom): { lines: string[]; tables: Map<string, Map<string, unknown>> } {
  const options = listOptions().map(([, option]) => option)
  const randomValue = (flag: string): unknown => {
    const option = options.find((each) => each.flag === flag)!
    if (option.placeholder === undefined || option.placeholder === 'on|off') return random.below(2) === 1
    return option.isInteger ? 200 + random.below(9) : `v${random.below(1e6)}`
  }
  const flags = ['open', 'port', 'host', 'page', 'max-filters', 'cors', 'datadir', 'tls-cert', 'log-file', 'threads']
  const known = flags.filter((flag) => options.some((each) => each.flag === flag && each.commands.includes('serve')))
  const tables = new Map<string, Map<string, unknown>>()
  const lines: string[] = []
  for (const table of ['', 'serve']) {
    if (table !== '') lines.push(`[${table}]`)
    const own = new Map<string, unknown>()
    for (const flag of known) {
      for (let n = random.below(3); n > 0; n--) lines.push(random.below(2) === 0 ? '' : `# ${flag} = "x"`)
      if (random.below(2) === 0) continue
      const value = randomValue(flag)
      own.set(flag, value)
      lines.push(`${flag} = ${JSON.stringify(value)}`)
    }
    tables.set(table, own)
  }
  return { lines, tables }
}

test('random files are what their lines say, and a wrong line is found', () => {
  const random = seededRandom(332)
  for (let i = 0; i < 200; i++) {
    const { lines, tables } = randomFile(random)
    const merged = new Map([...tables.get('')!, ...tables.get('serve')!])
    const expected = Object.fromEntries(
      [...merged].map(([flag, value]) => [
        `CAIRN_${flag.toUpperCase().replaceAll('-', '_')}`,
        typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value),
      ]),
    )
    assert.deepEqual(toml(lines.join('\n')), expected)
    const object = { ...Object.fromEntries(tables.get('')!), serve: Object.fromEntries(tables.get('serve')!) }
    assert.deepEqual(json(JSON.stringify(object, null, random.below(3))), expected)
    const at = random.below(lines.length + 1)
    const wrong = [...lines.slice(0, at), ...['hosst = """', 'hosst = "1"', '"""'], ...lines.slice(at)]
    refuses(() => toml(wrong.join('\n')), new RegExp(`^c\\.toml:${at + 1}: unknown option hosst \\(did you mean host`))
  }
})

test('files are bounded, and one that is named must be there', (t) => {
  const path = join(temporaryDirectory(t), 'c.toml')
  refuses(() => readConfigFile('serve', path), /^--config .*no such file/)
  writeFileSync(path, '#'.repeat(65_537))
  refuses(() => readConfigFile('serve', path), /expected at most 65536 bytes, got 65537$/)
  writeFileSync(path, 'port = 7\n')
  assert.deepEqual(readConfigFile('serve', path), { path, env: { CAIRN_PORT: '7' } })
  assert.equal(readConfigFile('serve', 'none'), undefined)
})

test('each section is named like a command, and no command like an option that is a table', () => {
  for (const command of COMMANDS) assert.deepEqual(toml(`[${command}]`), {})
})

test('the program uses cairn.toml of the working directory, another file, or none', async (t) => {
  const cwd = temporaryDirectory(t)
  writeFileSync(
    join(cwd, 'cairn.toml'),
    'datadir = "from-file"\n[record]\nupstream = "http://127.0.0.1:1"\nout = "o"\n',
  )
  writeFileSync(join(cwd, 'other.json'), '{"datadir": "from-json"}')
  const run = (args: string[], env: NodeJS.ProcessEnv = {}) =>
    spawnProgram(process.execPath, [packagePath('dist/cli/main.js'), ...args], { cwd, env }).ended
  assert.match((await run(['status'])).stderr, /no database at from-file\/cairn\.db/)
  assert.match((await run(['status', '--config', 'other.json'])).stderr, /no database at from-json\/cairn\.db/)
  assert.match((await run(['status'], { CAIRN_CONFIG: 'other.json' })).stderr, /no database at from-json\/cairn\.db/)
  assert.match((await run(['status', '--config', 'none'])).stderr, /no database at data\/cairn\.db/)
  assert.match((await run(['status'], { CAIRN_DATADIR: 'from-env' })).stderr, /no database at from-env\/cairn\.db/)
  assert.match((await run(['status'], { CAIRN_DATADIR: '' })).stderr, /no database at from-file\/cairn\.db/)
  const imported = await run(['import', 'nothing.rlp'])
  assert.match(imported.stderr, /"config":"[^"]*\/cairn\.toml","msg":"configuration file"/)
  writeFileSync(join(cwd, 'cairn.toml'), 'dtadir = "x"\n')
  const { code, stderr } = await run(['status'])
  assert.equal(code, 2)
  assert.match(stderr, /^cairn: cairn\.toml:1: unknown option dtadir \(did you mean datadir\?\)/)
  assert.equal((await run(['version'])).code, 0)
  assert.equal((await run(['status', '--help'])).code, 0)
})
