import type { Logger } from '../lib/logger.js'
import { createProgressDisplay, type DisplayTarget, monotonicMs } from '../lib/progressDisplay.js'
import { formatProgressLine, formatRate } from '../lib/progressLine.js'
import type { FollowersStatus } from '../sync/follow/openFollowers.js'
import type { FollowState, FollowStatus } from '../sync/follow/status.js'

/** Shows the progress of following until it is ended. */
export interface FollowProgress {
  end(): void
}

const TERMINAL_MS = 200
const LOOK_MS = 500
const LOG_MS = 10_000

/** Shows a redrawn line on a terminal. Elsewhere, logs a line when the state changes and every 10 s in which a block
 *  arrived. */
export function showFollowProgress(
  status: () => FollowersStatus,
  log: Logger,
  target: DisplayTarget = {},
): FollowProgress {
  const { stream = process.stderr } = target
  const isTerminal = stream.isTTY === true && process.env.TERM !== 'dumb'
  if (!isTerminal) {
    const { l1, l2 } = status()
    const logs = [
      ...(l1 ? [logProgress(() => status().l1!, log)] : []),
      ...(l2 ? [logProgress(() => status().l2!, log, { layer: 2 })] : []),
    ]
    return {
      end: () => {
        for (const each of logs) each.end()
      },
    }
  }
  const display = createProgressDisplay(target)
  const render = (columns: number) => formatFollowLines(status(), columns)
  const timer = setInterval(() => display.show(render), TERMINAL_MS)
  return {
    end: () => {
      clearInterval(timer)
      display.end(render)
    },
  }
}

/** Logs progress; `fields` are added to every line. */
function logProgress(status: () => FollowStatus, log: Logger, fields: object = {}): FollowProgress {
  let reported: { state: FollowState; block: number | null; ms: number } | undefined
  const report = (now: FollowStatus) => {
    const { state, block, upstreamBlock, blocksPerSecond, secondsLeft } = now
    reported = { state, block, ms: monotonicMs() }
    const rate = Math.round(blocksPerSecond * 10) / 10
    const left = secondsLeft && Math.ceil(secondsLeft)
    log.info({ ...fields, block, upstreamBlock, blocksPerSecond: rate, secondsLeft: left }, state)
  }
  const look = () => {
    const now = status()
    const isDue = reported === undefined || (now.block !== reported.block && monotonicMs() - reported.ms >= LOG_MS)
    if (isDue || now.state !== reported?.state) report(now)
  }
  const timer = setInterval(look, LOOK_MS)
  return {
    end: () => {
      clearInterval(timer)
      report(status())
    },
  }
}

/** Formats the lines of both layers side by side. */
function formatFollowLines({ l1, l2 }: FollowersStatus, columns: number): string {
  if (!l1 || !l2) return l1 ? formatFollowLine(l1, columns) : formatFollowLine(l2!, columns)
  const half = Math.floor((columns - ' | layer 2: '.length) / 2)
  return `${formatFollowLine(l1, half)} | layer 2: ${formatFollowLine(l2, half)}`
}

/** Formats a line such as `syncing, block 1,234,567, 321 blocks/s, 18,765,433 behind, 16 h left`, of at most `columns`
 *  columns. */
export function formatFollowLine(status: FollowStatus, columns: number): string {
  const { state, block, upstreamBlock, blocksPerSecond, secondsLeft } = status
  const distance = upstreamBlock === null ? 0 : Math.max(0, upstreamBlock - (block ?? -1))
  const figures = [
    ...(block === null ? [] : [`block ${block.toLocaleString('en')}`]),
    formatRate(blocksPerSecond, 'blocks'),
    ...(upstreamBlock === null ? [] : [distance === 0 ? 'at the head' : `${distance.toLocaleString('en')} behind`]),
  ]
  const fraction = state === 'syncing' && block !== null ? block / upstreamBlock! : undefined
  return formatProgressLine({ label: state, figures, fraction, secondsLeft: secondsLeft ?? undefined }, columns)
}
