CREATE TABLE `state_trie_pages` (
	`id` integer PRIMARY KEY NOT NULL,
	`data` blob NOT NULL
);
