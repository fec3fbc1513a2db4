import { createProgress, type Progress } from '../lib/progress.js'
import type { SnapshotStep } from '../snapshots/createSnapshot.js'

/** Shows a progress line for each step of a snapshot or a restore. `finish` may be called again. */
export function showSnapshotSteps() {
  let current: { step: SnapshotStep; progress: Progress } | undefined
  const finish = () => {
    current?.progress.finish()
    current = undefined
  }
  const onProgress = (step: SnapshotStep, done: number, total: number) => {
    if (current?.step !== step) {
      finish()
      current = { step, progress: createProgress({ label: step, unit: 'MB', total: Math.ceil(total / 1e6) }) }
    }
    current.progress.update(Math.ceil(done / 1e6))
  }
  return { onProgress, finish }
}
