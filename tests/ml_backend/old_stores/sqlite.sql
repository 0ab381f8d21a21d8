-- 0001
CREATE TABLE counters (name VARCHAR(64) NOT NULL, value FLOAT NOT NULL, CONSTRAINT pk_counters PRIMARY KEY (name));
CREATE TABLE projects (id INTEGER NOT NULL, server VARCHAR(512) NOT NULL, number INTEGER NOT NULL, born VARCHAR(64), title TEXT NOT NULL, label_config TEXT NOT NULL, controls JSON NOT NULL, raters JSON NOT NULL, required INTEGER DEFAULT '1' NOT NULL, chosen JSON NOT NULL, extra_params JSON NOT NULL, connection JSON NOT NULL, origins JSON NOT NULL, key_round INTEGER NOT NULL, webhook_secret VARCHAR(128), fingerprint VARCHAR(64), watermark VARCHAR(64), generation INTEGER NOT NULL, pulled_at FLOAT, checked_at FLOAT, wanted_at FLOAT, wanted_full BOOLEAN NOT NULL, summary JSON, summary_at FLOAT, summary_stale BOOLEAN NOT NULL, lease_owner VARCHAR(128), lease_until FLOAT, CONSTRAINT pk_projects PRIMARY KEY (id), CONSTRAINT uq_projects_server UNIQUE (server, number));
CREATE TABLE service (name VARCHAR(64) NOT NULL, value TEXT NOT NULL, CONSTRAINT pk_service PRIMARY KEY (name));
CREATE TABLE decisions (id INTEGER NOT NULL, project INTEGER NOT NULL, pair VARCHAR(64) NOT NULL, text_a TEXT NOT NULL, text_b TEXT NOT NULL, same BOOLEAN NOT NULL, task INTEGER, reviewer VARCHAR(256) NOT NULL, decided_at FLOAT NOT NULL, CONSTRAINT pk_decisions PRIMARY KEY (id), CONSTRAINT fk_decisions_project_projects FOREIGN KEY(project) REFERENCES projects (id) ON DELETE CASCADE, CONSTRAINT uq_decisions_project UNIQUE (project, pair));
CREATE TABLE jobs (id INTEGER NOT NULL, project INTEGER NOT NULL, state VARCHAR(16) NOT NULL, reason VARCHAR(64) NOT NULL, phase VARCHAR(32) NOT NULL, done INTEGER NOT NULL, total INTEGER, pairs BIGINT NOT NULL, requested_at FLOAT NOT NULL, started_at FLOAT, phase_at FLOAT, seen_at FLOAT, finished_at FLOAT, message TEXT NOT NULL, result JSON, CONSTRAINT pk_jobs PRIMARY KEY (id), CONSTRAINT fk_jobs_project_projects FOREIGN KEY(project) REFERENCES projects (id) ON DELETE CASCADE);
CREATE INDEX ix_jobs_project_id ON jobs (project, id);
CREATE TABLE tasks (project INTEGER NOT NULL, number INTEGER NOT NULL, updated_at VARCHAR(64), generation INTEGER NOT NULL, n_annotations INTEGER NOT NULL, n_answers INTEGER NOT NULL, answers JSON NOT NULL, answers_hash VARCHAR(64) NOT NULL, scored_hash VARCHAR(64), agreement FLOAT, details JSON, scored_at FLOAT, desired VARCHAR(64), actual JSON NOT NULL, write BOOLEAN NOT NULL, suspect BOOLEAN NOT NULL, in_flight BOOLEAN NOT NULL, CONSTRAINT pk_tasks PRIMARY KEY (project, number), CONSTRAINT fk_tasks_project_projects FOREIGN KEY(project) REFERENCES projects (id) ON DELETE CASCADE);
CREATE INDEX ix_tasks_project_agreement ON tasks (project, agreement);
CREATE INDEX ix_tasks_project_write ON tasks (project, write);
-- 0002
CREATE TABLE reviewed (project INTEGER NOT NULL, task INTEGER NOT NULL, answers_hash VARCHAR(64) NOT NULL, reviewer VARCHAR(256) NOT NULL, at FLOAT NOT NULL, CONSTRAINT pk_reviewed PRIMARY KEY (project, task), CONSTRAINT fk_reviewed_project_projects FOREIGN KEY(project) REFERENCES projects (id) ON DELETE CASCADE);
CREATE TABLE audits (id INTEGER NOT NULL, project INTEGER NOT NULL, control VARCHAR(256) NOT NULL, measure TEXT NOT NULL, seed BIGINT NOT NULL, wanted INTEGER NOT NULL, sheet JSON NOT NULL, answers JSON NOT NULL, answers_hash VARCHAR(64) NOT NULL, created_at FLOAT NOT NULL, created_by VARCHAR(256) NOT NULL, result JSON, result_at FLOAT, CONSTRAINT pk_audits PRIMARY KEY (id), CONSTRAINT fk_audits_project_projects FOREIGN KEY(project) REFERENCES projects (id) ON DELETE CASCADE);
CREATE INDEX ix_audits_project_id ON audits (project, id);
CREATE TABLE audit_judgements (audit INTEGER NOT NULL, place INTEGER NOT NULL, judge VARCHAR(256) NOT NULL, verdict VARCHAR(16) NOT NULL, at FLOAT NOT NULL, CONSTRAINT pk_audit_judgements PRIMARY KEY (audit, place, judge), CONSTRAINT fk_audit_judgements_audit_audits FOREIGN KEY(audit) REFERENCES audits (id) ON DELETE CASCADE);
-- 0003
CREATE TABLE comparisons (project INTEGER NOT NULL, control VARCHAR(256) NOT NULL, measures JSON NOT NULL, wanted_at FLOAT, result JSON, result_at FLOAT, based_on VARCHAR(64), CONSTRAINT pk_comparisons PRIMARY KEY (project, control), CONSTRAINT fk_comparisons_project_projects FOREIGN KEY(project) REFERENCES projects (id) ON DELETE CASCADE);
ALTER TABLE audits ADD COLUMN drawn_from JSON;
ALTER TABLE audits ADD COLUMN asked_at FLOAT;
ALTER TABLE audits ADD COLUMN problem TEXT;
-- 0004
ALTER TABLE projects ADD COLUMN watermark_at FLOAT;
ALTER TABLE projects ADD COLUMN seen_versions JSON;
ALTER TABLE projects ADD COLUMN summary_due FLOAT;
-- 0005
CREATE TABLE calibrations (project INTEGER NOT NULL, measure TEXT NOT NULL, n INTEGER NOT NULL, report JSON, problem TEXT, at FLOAT NOT NULL, CONSTRAINT pk_calibrations PRIMARY KEY (project), CONSTRAINT fk_calibrations_project_projects FOREIGN KEY(project) REFERENCES projects (id) ON DELETE CASCADE);
-- 0006
CREATE TABLE _alembic_tmp_decisions (id INTEGER NOT NULL, project INTEGER NOT NULL, pair VARCHAR(64) NOT NULL, text_a TEXT NOT NULL, text_b TEXT NOT NULL, same BOOLEAN NOT NULL, task INTEGER, reviewer VARCHAR(256) NOT NULL, decided_at FLOAT NOT NULL, withdrawn BOOLEAN DEFAULT 0 NOT NULL, reviewer_id VARCHAR(64) DEFAULT '' NOT NULL, known_by VARCHAR(16) DEFAULT '' NOT NULL, CONSTRAINT pk_decisions PRIMARY KEY (id), CONSTRAINT fk_decisions_project_projects FOREIGN KEY(project) REFERENCES projects (id) ON DELETE CASCADE);
INSERT INTO _alembic_tmp_decisions (id, project, pair, text_a, text_b, same, task, reviewer, decided_at) SELECT decisions.id, decisions.project, decisions.pair, decisions.text_a, decisions.text_b, decisions.same, decisions.task, decisions.reviewer, decisions.decided_at FROM decisions;
DROP TABLE decisions;
ALTER TABLE _alembic_tmp_decisions RENAME TO decisions;
CREATE INDEX ix_decisions_project_pair ON decisions (project, pair, id);
UPDATE projects SET origins = '[]';
-- 0007
ALTER TABLE projects ADD COLUMN control_history JSON;
-- 0008
ALTER TABLE audits ADD COLUMN look_asked_at FLOAT;
ALTER TABLE audits ADD COLUMN looks JSON;
-- 0009
CREATE TABLE side_by_side (id INTEGER NOT NULL, project INTEGER NOT NULL, question JSON NOT NULL, asked_at FLOAT NOT NULL, wanted_at FLOAT, problem TEXT, result JSON, result_at FLOAT, based_on VARCHAR(64), CONSTRAINT pk_side_by_side PRIMARY KEY (id), CONSTRAINT fk_side_by_side_project_projects FOREIGN KEY(project) REFERENCES projects (id) ON DELETE CASCADE);
CREATE INDEX ix_side_by_side_project_id ON side_by_side (project, id);
-- 0010
CREATE TABLE agreed_answers (id INTEGER NOT NULL, project INTEGER NOT NULL, task INTEGER NOT NULL, control VARCHAR(256) NOT NULL, texts JSON NOT NULL, codes JSON, source VARCHAR(16) NOT NULL, annotation INTEGER, edited BOOLEAN, given_hash VARCHAR(64) NOT NULL, reviewer VARCHAR(256) NOT NULL, reviewer_id VARCHAR(64) NOT NULL, known_by VARCHAR(16) NOT NULL, at FLOAT NOT NULL, withdrawn BOOLEAN NOT NULL, CONSTRAINT pk_agreed_answers PRIMARY KEY (id), CONSTRAINT fk_agreed_answers_project_projects FOREIGN KEY(project) REFERENCES projects (id) ON DELETE CASCADE);
CREATE INDEX ix_agreed_answers_project_task ON agreed_answers (project, task, control, id);
-- 0011
ALTER TABLE reviewed ADD COLUMN sent_back BOOLEAN DEFAULT 0 NOT NULL;
ALTER TABLE reviewed ADD COLUMN note TEXT DEFAULT '' NOT NULL;
-- 0012
CREATE TABLE policy_looks (project INTEGER NOT NULL, control VARCHAR(256) NOT NULL, policies JSON NOT NULL, wanted_at FLOAT, result JSON, result_at FLOAT, CONSTRAINT pk_policy_looks PRIMARY KEY (project, control), CONSTRAINT fk_policy_looks_project_projects FOREIGN KEY(project) REFERENCES projects (id) ON DELETE CASCADE);
-- 0013
CREATE TABLE splittings (project INTEGER NOT NULL, control VARCHAR(256) NOT NULL, mode VARCHAR(16) NOT NULL, marks JSON NOT NULL, joiner VARCHAR(16) NOT NULL, alone JSON NOT NULL, answers INTEGER NOT NULL, at FLOAT NOT NULL, CONSTRAINT pk_splittings PRIMARY KEY (project, control), CONSTRAINT fk_splittings_project_projects FOREIGN KEY(project) REFERENCES projects (id) ON DELETE CASCADE);
-- 0014
CREATE TABLE codebooks (project INTEGER NOT NULL, control VARCHAR(256) NOT NULL, wanted_at FLOAT, comparisons JSON, made_at FLOAT, based_on VARCHAR(64), problem TEXT, CONSTRAINT pk_codebooks PRIMARY KEY (project, control), CONSTRAINT fk_codebooks_project_projects FOREIGN KEY(project) REFERENCES projects (id) ON DELETE CASCADE);
-- 0015
ALTER TABLE tasks ADD COLUMN columns_at FLOAT;
-- 0016
CREATE TABLE uncounted (id INTEGER NOT NULL, project INTEGER NOT NULL, attribute VARCHAR(16) NOT NULL, task INTEGER NOT NULL, reviewer VARCHAR(256) NOT NULL, reviewer_id VARCHAR(64) NOT NULL, known_by VARCHAR(16) NOT NULL, at FLOAT NOT NULL, withdrawn BOOLEAN NOT NULL, CONSTRAINT pk_uncounted PRIMARY KEY (id), CONSTRAINT fk_uncounted_project_projects FOREIGN KEY(project) REFERENCES projects (id) ON DELETE CASCADE);
CREATE INDEX ix_uncounted_project ON uncounted (project, attribute, task, id);
-- 0017
ALTER TABLE tasks ADD COLUMN facts JSON;
-- 0018
DROP TABLE calibrations;
-- 0019
DROP TABLE comparisons;
-- 0020
