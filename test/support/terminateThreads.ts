import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { seededRandom } from './random.js'
import type { Work } from './terminatedThread.js'

/* `node terminateThreads.js COUNT SEED`: starts and terminates so many threads (`terminatedThread`), each at a random moment:
 * one in four while it starts, the others while it works. Exits with 0 unless a termination ends the process. */

const AT_ONCE = 4
const WORK_MS = 5
const START_MS = 60

const [count, seed] = process.argv.slice(2).map(Number)
const random = seededRandom(seed)
const thread = new URL('./terminatedThread.js', import.meta.url)

async function terminateOne(work: Work): Promise<void> {
  const worker = new Worker(thread, { workerData: work })
  const failed = new Promise<never>((_, reject) => worker.once('error', reject))
  const whileStarting = random.below(4) === 0
  const share = random.below(1000) / 1000
  const moment = whileStarting
    ? setTimeout(share * START_MS)
    : new Promise((resolve) => worker.once('message', resolve)).then(() => setTimeout(share * WORK_MS))
  await Promise.race([moment, failed])
  await worker.terminate()
}

let left = count
const lanes = Array.from({ length: AT_ONCE }, async () => {
  while (left-- > 0) await terminateOne(left % 2 === 0 ? 'recoveries' : 'statements')
})
await Promise.all(lanes)
process.stdout.write(`terminated ${count}\n`)
