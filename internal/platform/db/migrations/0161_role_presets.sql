-- +goose Up
-- The roles that a new account has, in the accounts that exist. A role of the same name stays as it is. The ids are above those of all roles
-- that were ever granted: a deleted role stays assigned to its persons, who must not gain a new one by it.
INSERT INTO role (account_id, role_id, role_name, permissions, description, status, created_at, updated_at)
SELECT a.account_id,
    1 + COALESCE((SELECT MAX(u.role_id) FROM (SELECT account_id, role_id FROM role UNION ALL SELECT account_id, role_id FROM person_role) u
        WHERE u.account_id = a.account_id), 0),
    'Owner',
    '["Incidents Manage (on-call)","Channels Manage (on-call)","Integrations Manage (on-call)","Schedules Manage (on-call)",
     "Calendars Manage (on-call)","Templates Manage (on-call)","Datasources Manage (monit)","Alerting Rules Manage (monit)",
     "Applications Manage (rum)","Members Manage (org)","Teams Manage (org)","Roles Manage (org)","Audit Manage (org)",
     "Custom Fields Manage (on-call)","Status Pages Manage (on-call)","Status Pages Events Manage (on-call)",
     "Alerting Engines Manage (monit)"]',
    'Does everything, and decides who may do what', 'enabled', 0, 0
FROM account a WHERE NOT EXISTS (SELECT 1 FROM role r WHERE r.account_id = a.account_id AND r.role_name = 'Owner');
INSERT INTO role (account_id, role_id, role_name, permissions, description, status, created_at, updated_at)
SELECT a.account_id,
    1 + COALESCE((SELECT MAX(u.role_id) FROM (SELECT account_id, role_id FROM role UNION ALL SELECT account_id, role_id FROM person_role) u
        WHERE u.account_id = a.account_id), 0),
    'Manager',
    '["Incidents Manage (on-call)","Channels Manage (on-call)","Integrations Manage (on-call)","Schedules Manage (on-call)",
     "Calendars Manage (on-call)","Templates Manage (on-call)","Datasources Manage (monit)","Alerting Rules Manage (monit)",
     "Applications Manage (rum)","Members Manage (org)","Teams Manage (org)","Custom Fields Manage (on-call)",
     "Status Pages Manage (on-call)","Status Pages Events Manage (on-call)","Alerting Engines Manage (monit)",
     "Roles Read (org)"]',
    'Sets up schedules, channels, sources and rules, and invites people', 'enabled', 0, 0
FROM account a WHERE NOT EXISTS (SELECT 1 FROM role r WHERE r.account_id = a.account_id AND r.role_name = 'Manager');
INSERT INTO role (account_id, role_id, role_name, permissions, description, status, created_at, updated_at)
SELECT a.account_id,
    1 + COALESCE((SELECT MAX(u.role_id) FROM (SELECT account_id, role_id FROM role UNION ALL SELECT account_id, role_id FROM person_role) u
        WHERE u.account_id = a.account_id), 0),
    'Responder',
    '["Incidents Manage (on-call)","Channels Read (on-call)","Integrations Read (on-call)","Schedules Read (on-call)",
     "Calendars Read (on-call)","Templates Read (on-call)","Members Read (org)","Teams Read (org)"]',
    'Is on call: handles incidents, and reads schedules, channels and integrations', 'enabled', 0, 0
FROM account a WHERE NOT EXISTS (SELECT 1 FROM role r WHERE r.account_id = a.account_id AND r.role_name = 'Responder');
INSERT INTO role (account_id, role_id, role_name, permissions, description, status, created_at, updated_at)
SELECT a.account_id,
    1 + COALESCE((SELECT MAX(u.role_id) FROM (SELECT account_id, role_id FROM role UNION ALL SELECT account_id, role_id FROM person_role) u
        WHERE u.account_id = a.account_id), 0),
    'Viewer',
    '["Incidents Read (on-call)","Channels Read (on-call)","Integrations Read (on-call)","Schedules Read (on-call)",
     "Calendars Read (on-call)","Templates Read (on-call)","Alerting Rules Read (monit)","Applications Read (rum)",
     "Members Read (org)","Teams Read (org)","Roles Read (org)","Custom Fields Read (on-call)","Status Pages Read (on-call)",
     "Status Pages Events Read (on-call)","Alerting Engines Read (monit)"]',
    'Reads everything but the audit log and datasources, and changes nothing', 'enabled', 0, 0
FROM account a WHERE NOT EXISTS (SELECT 1 FROM role r WHERE r.account_id = a.account_id AND r.role_name = 'Viewer');
