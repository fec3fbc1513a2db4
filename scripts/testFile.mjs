// Loaded before each test file, or group of files (`--import`). Ends one that runs longer than LIMIT_MS and names what keeps
// it open: `--test-timeout` bounds a test, but since Node 24 not a file whose tests have passed and whose sockets or timers
// are left. Appends to the file TEST_CPU_FILE which processor time it took, for the reporter.
import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const LIMIT_MS = Number(process.env.TEST_FILE_LIMIT_MS ?? 480_000)
const { TEST_CPU_FILE: cpuFile } = process.env
const isLimited = isMainThread && process.env.NODE_TEST_CONTEXT?.startsWith('child')

let file = process.argv[1]
let timer
let notedMs = 0

if (isLimited) {
  beginFile(file)
  process.on('exit', noteTime)
}

/** Begins the next file of a group, named as its source. */
export function beginFile(name) {
  if (!isLimited) return
  if (name !== file) noteTime()
  file = name
  clearTimeout(timer)
  timer = setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ')
    console.error(`${file}: ended after ${LIMIT_MS / 1000} s; still open: ${open}`)
    process.exit(1)
  }, LIMIT_MS).unref()
}

function noteTime() {
  if (!cpuFile || process.platform !== 'linux') return
  const ms = processorTimeMs()
  appendFileSync(cpuFile, `${JSON.stringify([file, ms - notedMs])}\n`)
  notedMs = ms
}

/** Of this process and of the children it has waited for (proc_pid_stat(5): utime, stime, cutime, cstime, in 1/100 s). */
function processorTimeMs() {
  const [, rest] = /\) (.*)/s.exec(readFileSync('/proc/self/stat', 'utf8'))
  const ticks = rest.split(' ').slice(11, 15)
  return ticks.reduce((sum, value) => sum + Number(value) * 10, 0)
}
