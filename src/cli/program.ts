import { type LoadRun, type Run, runCommandLine } from './commandLine.js'

/* The composition root. Commands are loaded on demand, so `cairn --help` loads no chain code. */

const RUNS: { readonly [K in Parameters<LoadRun>[0]]: () => Promise<Run> } = {
  import: async () => (await import('./commands/import.js')).runImport,
  sync: async () => (await import('./commands/sync.js')).runSync,
  serve: async () => (await import('./serveProgram.js')).loadServe(),
  keys: async () => (await import('./commands/keys.js')).runKeys,
  status: async () => (await import('./commands/status.js')).runStatus,
  'explain-logs': async () => (await import('./commands/explainLogs.js')).runExplainLogs,
  verify: async () => (await import('./commands/verify.js')).runVerify,
  reindex: async () => (await import('./commands/reindex.js')).runReindex,
  rewind: async () => (await import('./commands/rewind.js')).runRewind,
  backup: async () => (await import('./commands/backup.js')).runBackup,
  restore: async () => (await import('./commands/backup.js')).runRestore,
  snapshot: async () => (await import('./commands/snapshot.js')).runSnapshot,
  migrate: async () => (await import('./commands/migrate.js')).runMigrate,
  'upgrade-state': async () => (await import('./commands/upgradeState.js')).runUpgradeState,
  export: async () => (await import('./commands/export.js')).runExport,
  abi: async () => (await import('./commands/abi.js')).runAbi,
  record: async () => (await import('./commands/record.js')).runRecord,
  sql: async () => (await import('./commands/sql.js')).runSql,
  doctor: async () => (await import('./commands/doctor.js')).runDoctor,
  completion: async () => (await import('./commands/completion.js')).runCompletion,
  version: async () => (await import('./commands/version.js')).runVersion,
}

/** Runs the command of a command line, the words after `cairn`. Returns the exit code. */
export function runProgram(argv: readonly string[]): Promise<number> {
  return runCommandLine(argv, (command) => RUNS[command]())
}
