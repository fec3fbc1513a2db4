// How a run of the tests is shown: as node's `spec` reporter does, but that the summary comes last, after the failed
// tests, the skipped ones with their reasons, the slowest files, those that took the most processor time, and how long it
// all took.
import { existsSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'
import { formatDuration, ROOT } from './ensure.mjs'

const SUMMARY = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) \d/
const SLOWEST_FILES = 5
const BUSIEST_FILES = 20

/** Text for the events of a run. */
export default async function* report(events) {
  const skipped = new Map()
  const files = []
  const summary = []
  async function* withoutSummary() {
    for await (const event of events) {
      const { type, data } = event
      if (type === 'test:diagnostic' && data.nesting === 0 && data.file === undefined && SUMMARY.test(data.message)) {
        summary.push(event)
        continue
      }
      if (type === 'test:complete' && isFile(data)) files.push([data.name, data.details.duration_ms])
      if (type === 'test:pass' && data.skip !== undefined) noteSkipped(skipped, data)
      yield event
    }
  }
  yield* formatEvents(withoutSummary())
  yield describeSkipped(skipped)
  yield describeTimes(files)
  yield* formatEvents(summary)
}

/** Whether an event is of a whole file: one that ran alone, or a member of a group. */
function isFile({ name, file, nesting }) {
  return nesting === 0 && (name === file || name.endsWith('.test.ts'))
}

function formatEvents(events) {
  return Readable.from(events).compose(new spec())
}

function noteSkipped(skipped, { file, name, skip }) {
  const reason = skip === true || skip === '' ? 'no reason given' : skip
  const byFile = skipped.get(reason) ?? new Map()
  const path = nameOf(file)
  byFile.set(path, [...(byFile.get(path) ?? []), name])
  skipped.set(reason, byFile)
}

function describeSkipped(skipped) {
  let text = ''
  for (const [reason, byFile] of skipped) {
    text += `\nskipped: ${reason}\n`
    for (const [path, names] of byFile) {
      for (const name of names) text += `  ${path}: ${name}\n`
    }
  }
  return text
}

function describeTimes(files) {
  const slowest = files.sort(([, a], [, b]) => b - a).slice(0, SLOWEST_FILES)
  const { TEST_STARTED_MS: started } = process.env
  const took = started === undefined ? '' : `all took ${formatDuration(Date.now() - Number(started))}\n`
  return `\nslowest files: ${listTimes(slowest)}\n${describeProcessorTimes()}${took}\n`
}

/** From what testFile.mjs wrote; empty where nothing was written. */
function describeProcessorTimes() {
  const { TEST_CPU_FILE: path = '' } = process.env
  if (!existsSync(path)) return ''
  const times = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const all = times.reduce((sum, [, ms]) => sum + ms, 0)
  const busiest = times.sort(([, a], [, b]) => b - a).slice(0, BUSIEST_FILES)
  return `processor time: ${formatDuration(all)}, of it ${listTimes(busiest)}\n`
}

function listTimes(files) {
  return files.map(([path, ms]) => `${nameOf(path)} ${formatDuration(ms)}`).join(', ')
}

/** The path of a test's source in the repository. */
function nameOf(path) {
  return relative(ROOT, resolve(ROOT, path))
    .replace(/^build\//, '')
    .replace(/\.js$/, '.ts')
}
