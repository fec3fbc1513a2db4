import { readdirSync, statSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { readMemory } from '../../bench/lib/memory.js'
import { writtenBytes } from '../../bench/lib/writtenBytes.js'
import { DATABASE_FILE } from '../../src/store/open.js'

/** What is measured of the server; sizes in MB. */
export interface Sample {
  minutes: number
  blocks: number
  rssMb: number
  /** Of `rssMb`: without mapped files. */
  anonymousMb: number
  /** Of the main thread's heap, used. */
  heapMb: number
  externalMb: number
  databaseMb: number
  walMb: number
  fds: number
  /** Passed to write calls by the server so far, but for what it sent to clients. */
  writtenMb: number
  /** Of `writtenMb` since the sample before, a block. */
  blockMb: number
  /** Of answers since the sample before: of single values, and of selective log queries. */
  readP99Ms: number
  logsP99Ms: number
  cpuSeconds: number
}

const MB = 2 ** 20

/** What the soak counts itself. */
type Counted = Pick<Sample, 'minutes' | 'blocks' | 'readP99Ms' | 'logsP99Ms'>

/** Measures a server that has `/metrics`. Linux only.
 *  @param before the sample before, if any */
export async function takeSample(
  server: { pid: number; url: string; datadir: string },
  counted: Counted,
  before: Sample | undefined,
): Promise<Sample> {
  const text = await readMetrics(server.url)
  const metric = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1])
  const { rssMb, anonymousMb } = readMemory(server.pid)!
  const writtenMb = (writtenBytes(server.pid) - metric('cairn_network_sent_bytes_total')) / MB
  const blockMb = (writtenMb - (before?.writtenMb ?? 0)) / (counted.blocks - (before?.blocks ?? 0))
  const sizeOf = (suffix: string) =>
    (statSync(join(server.datadir, `${DATABASE_FILE}${suffix}`), { throwIfNoEntry: false })?.size ?? 0) / MB
  return {
    ...counted,
    writtenMb,
    blockMb,
    rssMb,
    anonymousMb,
    heapMb: metric('nodejs_heap_size_used_bytes') / MB,
    externalMb: metric('nodejs_external_memory_bytes') / MB,
    databaseMb: sizeOf(''),
    walMb: sizeOf('-wal'),
    fds: readdirSync(`/proc/${server.pid}/fd`).length,
    cpuSeconds: metric('process_cpu_seconds_total'),
  }
}

/** The metrics, over a connection of its own: one that was idle for long may just be closed by the server. */
function readMetrics(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = get(`${url}/metrics`, { agent: false }, (response) => readText(response).then(resolve, reject))
    sent.on('error', reject)
  })
}

const COLUMNS = {
  ...{ minutes: 1, blocks: 0, rssMb: 1, anonymousMb: 1, heapMb: 1, externalMb: 1, databaseMb: 1, walMb: 1, fds: 0 },
  ...{ writtenMb: 0, blockMb: 2, readP99Ms: 1, logsP99Ms: 1, cpuSeconds: 0 },
} satisfies { [Column in keyof Sample]: number }

/** The head of the table of samples. */
export function sampleHeader(): string {
  return Object.keys(COLUMNS)
    .map((name) => name.padStart(13))
    .join('')
}

/** A row of it. */
export function sampleRow(sample: Sample): string {
  return Object.entries(COLUMNS)
    .map(([name, digits]) => sample[name as keyof Sample].toFixed(digits).padStart(13))
    .join('')
}

/** How a figure changed over the second half of the samples. */
export interface Trend {
  figure: string
  perHour: number
  /** Of the slope: below twice this, it is noise. */
  errorPerHour: number
  mean: number
  isLeak: boolean
}

// Per hour, of the mean: a server that is left running for a month must not have doubled by what a slope this small
// adds up to, caches that fill included.
const LEAST_LEAK = {
  ...{ rssMb: 0.05, anonymousMb: 0.05, heapMb: 0.1, externalMb: 0.1, fds: 0.02 },
  ...{ blockMb: 0.2, readP99Ms: 0.5, logsP99Ms: 0.5 },
} as const

/** Fits a line through the second half of the samples, by least squares. */
export function findTrends(samples: readonly Sample[]): Trend[] {
  const half = samples.slice(Math.floor(samples.length / 2))
  return Object.entries(LEAST_LEAK).map(([figure, share]) => {
    const points = half
      .map((sample) => [sample.minutes / 60, sample[figure as keyof Sample]] as const)
      .filter(([, value]) => Number.isFinite(value))
    const { slope, error, mean } = fitLine(points)
    return { figure, perHour: slope, errorPerHour: error, mean, isLeak: slope > 2 * error && slope > share * mean }
  })
}

function fitLine(points: readonly (readonly [x: number, y: number])[]) {
  const count = points.length
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count
  const mean = points.reduce((sum, [, y]) => sum + y, 0) / count
  const varianceX = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - mean), 0) / varianceX
  const residual = points.reduce((sum, [x, y]) => sum + (y - mean - slope * (x - meanX)) ** 2, 0)
  return { slope, mean, error: Math.sqrt(residual / Math.max(1, count - 2) / varianceX) }
}
