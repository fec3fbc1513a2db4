import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { seededRandom } from './random.js'
import type { Work } from './terminatedThread.js'

/* `node terminateThreads.js COUNT SEED`: starts and terminates COUNT threads (`terminatedThread`), each at a random
 * moment: half of those without a database while they start, the others while they work. A thread must not be
 * terminated while it loads the addon of better-sqlite3; reader threads end themselves there. Exits with 0 unless a
 * termination ends the process. */

const AT_ONCE = 4
const WORKS: readonly Work[] = ['recoveries', 'statements', 'errors', 'openings']
const WORK_MS = 5
const START_MS = 60

const [count, seed] = process.argv.slice(2).map(Number)
const random = seededRandom(seed)
const thread = new URL('./terminatedThread.js', import.meta.url)

async function terminateOne(work: Work): Promise<void> {
  const worker = new Worker(thread, { workerData: work })
  const failed = new Promise<never>((_, reject) => worker.once('error', reject))
  const whileStarting = work === 'recoveries' && random.below(2) === 0
  const share = random.below(1000) / 1000
  const moment = whileStarting
    ? setTimeout(share * START_MS)
    : new Promise((resolve) => worker.once('message', resolve)).then(() => setTimeout(share * WORK_MS))
  await Promise.race([moment, failed])
  await worker.terminate()
}

let left = count
const lanes = Array.from({ length: AT_ONCE }, async () => {
  while (left-- > 0) await terminateOne(WORKS[left % WORKS.length])
})
await Promise.all(lanes)
process.stdout.write(`terminated ${count}\n`)
