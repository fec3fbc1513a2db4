import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeEnvironment } from './environment.js'
import { describeOptions, flag, list, type Options, parseOptions, text, type Values } from './options.js'
import { round } from './table.js'

/** One run of a bench, for its phases. */
export interface BenchRun<O extends Options> {
  readonly values: Values<O>
  /** A temporary directory, removed at the end. */
  readonly directory: string
  /** Returns what `open` makes for this run; the first phase that asks has it made. */
  once<T>(open: (run: BenchRun<O>) => Promise<T>): Promise<T>
  /** Calls `end` after the last phase, in reverse order. */
  after(end: () => void | Promise<void>): void
}

/** A part of a bench that runs by itself. */
export interface Phase<O extends Options> {
  /** What it measures, for the help. */
  readonly about: string
  /** False: it runs only where it is named. */
  readonly isUsual?: boolean
  /** Measures. @returns the figures for the report */
  run(run: BenchRun<O>): Promise<unknown>
  /** Prints the figures; by default as JSON. */
  print?(figures: never): void
}

/** The phases of a bench, in the order in which they run, and their options. */
export interface Bench<O extends Options, P extends string> {
  readonly name: string
  readonly options: O
  readonly phases: { readonly [name in P]: Phase<O> }
}

/** Runs the phases that the command line names, prints their figures, and writes them to `--json`. */
export async function runBench<O extends Options, P extends string>({ name, options, phases }: Bench<O, P>) {
  const names = Object.keys(phases) as P[]
  const common = {
    phase: list(
      names,
      'what to measure',
      names.filter((each) => phases[each].isUsual !== false),
    ),
    json: text('file for the report'),
    help: flag('prints this'),
  }
  const usage = () => {
    const lines = names.map((each) => `  ${each.padEnd(20)} ${phases[each].about}`)
    return `npm run bench:${name} -- [options]\n${lines.join('\n')}\n${describeOptions({ ...common, ...options })}`
  }
  let values: Values<O> & Values<typeof common>
  try {
    values = parseOptions(process.argv.slice(2), { ...common, ...options }) as typeof values
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage()}`)
    process.exitCode = 2
    return
  }
  if (values.help) return console.log(usage())
  const report = await measure(
    values,
    values.phase.map((each) => [each, phases[each]]),
  )
  if (values.json !== undefined) writeFileSync(values.json, `${format(report)}\n`)
}

async function measure<O extends Options>(values: Values<O>, phases: readonly (readonly [string, Phase<O>])[]) {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-bench-'))
  const ends: (() => void | Promise<void>)[] = [() => rmSync(directory, { recursive: true, force: true })]
  const made = new Map<unknown, Promise<unknown>>()
  const run: BenchRun<O> = {
    ...{ values, directory },
    once: <T>(open: (each: BenchRun<O>) => Promise<T>) => {
      const found = made.get(open) ?? open(run)
      made.set(open, found)
      return found as Promise<T>
    },
    after: (end) => void ends.unshift(end),
  }
  const report: { [member: string]: unknown } = { ...describeEnvironment(), options: values }
  const failures: unknown[] = []
  const attempt = async (step: () => unknown) => {
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  await attempt(async () => {
    for (const [name, phase] of phases) {
      process.stderr.write(`${name}\n`)
      const figures = await phase.run(run)
      report[name] = figures
      if (phase.print) phase.print(figures as never)
      else console.log(format({ [name]: figures }))
    }
  })
  for (const end of ends) await attempt(end)
  if (failures.length > 1) throw new AggregateError(failures, 'a phase failed, and what it had started did not stop')
  if (failures.length === 1) throw failures[0]
  return report
}

function format(report: object): string {
  return JSON.stringify(report, (_key, value) => round(value), 2)
}
