import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COMMAND_DOCS } from '../../src/cli/commandDocs.js'
import { listOptions } from '../../src/cli/config.js'
import { formatCommandHelp, formatHelp } from '../../src/cli/helpText.js'
import { COMMANDS, envName } from '../../src/cli/options/option.js'
import { parseArgs } from '../../src/cli/parseArgs.js'
import { UsageError } from '../../src/lib/errors.js'

test('the command line goes before the environment, and that before the default', () => {
  const env = { CAIRN_PORT: '1', CAIRN_HOST: '0.0.0.0', CAIRN_OPEN: 'on', CAIRN_DATADIR: '' }
  const { config, operands } = parseArgs('serve', ['--port', '2', 'a', '--rate-limit=5', '--', '--b'], env)
  assert.equal(config.port, 2)
  assert.equal(config.host, '0.0.0.0')
  assert.equal(config.open, true)
  assert.equal(config.rateLimit, 5)
  assert.equal(config.datadir, './data')
  assert.equal(config.scanThreads, undefined)
  assert.deepEqual(operands, ['a', '--b'])
})

test('the environment of another command is left alone', () => {
  assert.equal(parseArgs('status', [], { CAIRN_PORT: 'nonsense' }).config.json, false)
})

test('what is wrong is said in one line', () => {
  const refuses = (args: string[], words: RegExp, env = {}) =>
    assert.throws(
      () => parseArgs('serve', args, env),
      (error: Error) => error instanceof UsageError && words.test(error.message) && !error.message.includes('\n'),
    )
  refuses(['--xyz', '1'], /^unknown option --xyz; see 'cairn help serve'$/)
  refuses(['--prot', '1'], /^unknown option --prot \(did you mean --port\?\); see 'cairn help serve'$/)
  refuses(['--maxlogs=1'], /^unknown option --maxlogs \(did you mean --max-logs\?\); see/)
  refuses(['--kind', 'era1'], /^--kind is no option of 'cairn serve', but of 'cairn import'$/)
  refuses(['-p'], /^unknown option -p/)
  refuses(['--port'], /^--port needs a value \(PORT\)$/)
  refuses(['--port', '65536'], /^--port: expected a whole number from 0 to 65535, got "65536"$/)
  refuses(['--port', '-1'], /^--port: expected/)
  refuses(['--port='], /^--port: expected/)
  refuses(['--host='], /^--host needs a value$/)
  refuses(['--log-level', 'loud'], /^--log-level: expected debug, info, warn, error, silent, got "loud"$/)
  refuses(['--log-level', 'warning'], /silent, got "warning" \(did you mean warn\?\)$/)
  refuses(['--open=maybe'], /^--open: expected on or off/)
  refuses([], /^CAIRN_PORT: --port: expected/, { CAIRN_PORT: 'x' })
  refuses(['--l2-core-contract', '0x12'], /^--l2-core-contract: expected an address, 0x and 40 hex digits, got "0x12"$/)
  refuses(['--upstream-header', 'token abc'], /^--upstream-header: expected 'Name: value', got something else$/)
})

test('an option that may be repeated puts its values together, instead of those of the environment', () => {
  const env = { CAIRN_UPSTREAM: 'http://a ws://b', CAIRN_UPSTREAM_HEADER: 'A: 1\nB:  two words ' }
  const fromEnv = parseArgs('sync', [], env).config
  assert.deepEqual(fromEnv.upstream, ['http://a', 'ws://b'])
  assert.deepEqual(fromEnv.upstreamHeader, [
    { name: 'A', value: '1' },
    { name: 'B', value: 'two words' },
  ])
  const args = ['--upstream', 'http://c', '--upstream=http://d', '--upstream-header', 'C: x:y']
  const { upstream, upstreamHeader } = parseArgs('serve', args, env).config
  assert.deepEqual([upstream, upstreamHeader], [['http://c', 'http://d'], [{ name: 'C', value: 'x:y' }]])
})

test('help fits 100 columns, has examples of the command, and each option below a heading', () => {
  for (const command of COMMANDS) {
    const lines = formatCommandHelp(command).split('\n')
    for (const line of [...lines, ...formatHelp().split('\n')]) assert.ok(line.length <= 100, line)
    const examples = lines.slice(lines.indexOf('Examples:') + 1)
    assert.ok(examples.length > 0)
    for (const line of examples) assert.match(line, new RegExp(`\\bcairn ${command}\\b`))
    for (const [i, line] of lines.entries())
      if (line.startsWith('  --')) assert.match(headingOf(lines, i), /^[A-Z].*:$/)
  }
})

test('examples of help are command lines that parse', () => {
  for (const command of COMMANDS) {
    for (const { line } of COMMAND_DOCS[command].examples) {
      const words = line.slice(line.indexOf('cairn ')).split(' ').slice(2)
      assert.doesNotThrow(() => parseArgs(command, words, {}), line)
    }
  }
})

/** The nearest line above that is not indented. */
function headingOf(lines: string[], index: number): string {
  return lines.slice(0, index).findLast((line) => line !== '' && !line.startsWith(' '))!
}

test('help names every option of a command, and every default parses to itself', () => {
  for (const command of COMMANDS) {
    assert.match(formatHelp(), new RegExp(`^  ${command} `, 'm'))
    for (const [, { flag }] of listOptions()) {
      const isNamed = new RegExp(`--${flag}(?![\\w-])`).test(formatCommandHelp(command))
      const own = listOptions().filter(([, option]) => option.flag === flag && option.commands.includes(command))
      assert.ok(own.length <= 1, `${command} has two options --${flag}`)
      assert.equal(isNamed, own.length === 1, `--${flag} of ${command}`)
    }
  }
  for (const [, option] of listOptions()) {
    if (option.default !== undefined && typeof option.default !== 'boolean' && !option.repeatable) {
      assert.equal(option.parse(String(option.default)), option.default, option.flag)
    }
    assert.match(envName(option), /^CAIRN_[A-Z0-9_]+$/)
  }
})

test('commands may have different options of one name', () => {
  assert.equal(parseArgs('verify', ['--blocks'], {}).config.blocks, true)
  const { config } = parseArgs('export', ['--blocks', '5:', '--out', '-'], {})
  assert.deepEqual([config.blocks, config.blockRange], [false, { from: 5, to: undefined }])
  assert.deepEqual(parseArgs('export', ['--blocks=:9'], {}).config.blockRange, { from: undefined, to: 9 })
  assert.deepEqual(parseArgs('export', [], { CAIRN_BLOCKS: '7' }).config.blockRange, { from: 7, to: 7 })
  for (const bad of ['', ':', '1-2', '5:4', 'latest']) {
    assert.throws(() => parseArgs('export', ['--blocks', bad], {}), UsageError, bad)
  }
})
