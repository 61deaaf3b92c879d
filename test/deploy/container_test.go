package deploy

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// rootedCommand returns a command that sees a folder as its whole machine, and runs as a user.
func rootedCommand(root string, uid uint32, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = "/"
	c.Path, c.Err = name, nil // it is looked up inside
	c.Env = []string{}
	c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	return c
}

// rooted runs a program as rootedCommand does, and returns its output.
func rooted(t *testing.T, root string, uid uint32, name string, args ...string) string {
	t.Helper()
	out, err := rootedCommand(root, uid, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// final returns the instructions of the last stage of the container file, by their names.
func final(t *testing.T) map[string][]string {
	t.Helper()
	_, stage, ok := strings.Cut(read(t, "deploy/container/Containerfile"), "\nFROM scratch\n")
	if !ok {
		t.Fatal("the last stage is not empty at first")
	}
	list := map[string][]string{}
	for line := range strings.Lines(stage) {
		if name, args, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name != "#" {
			list[name] = append(list[name], args)
		}
	}
	return list
}

// image lays out a root that has only what the container file copies.
func image(t *testing.T) (root string, uid uint32) {
	t.Helper()
	root = t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	id, err := strconv.Atoi(strings.Split(final(t)["USER"][0], ":")[0])
	if err != nil || id == 0 {
		t.Fatal("the user of the image is", id, err)
	}
	for _, line := range final(t)["COPY"] {
		m := regexp.MustCompile(`^--from=build (?:--chown=(\d+):\d+ )?/out/(\S+) (\S+)$`).FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("what is copied by %q?", line)
		}
		to := filepath.Join(root, m[3])
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		switch m[2] {
		case "tocsin":
			text, err := os.ReadFile(binary())
			if err == nil {
				err = os.WriteFile(to, text, 0o755)
			}
			if err != nil {
				t.Fatal(err)
			}
		case "data":
			owner, _ := strconv.Atoi(m[1])
			if err := os.Mkdir(to, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(to, owner, owner); err != nil {
				t.Fatal(err)
			}
		default:
			if err := os.WriteFile(to, []byte("certificates\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root, uint32(id)
}

// The program runs with nothing but what the image holds: no shell, no library, no /tmp, no /proc. It writes to /data alone,
// its health can be asked, and it ends in order on SIGTERM.
func TestImageInBareRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a root of its own needs root")
	}
	root, uid := image(t)
	stage := final(t)
	c := rootedCommand(root, uid, "/usr/bin/tocsin", "serve")
	c.Dir = stage["WORKDIR"][0]
	c.Env = append(strings.Fields(stage["ENV"][0]), "TOCSIN_LISTEN=127.0.0.1:0")
	var log strings.Builder
	c.Stderr = &log
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	url := ""
	lines := bufio.NewScanner(out)
	for url == "" && lines.Scan() {
		if _, found, ok := strings.Cut(lines.Text(), "listening on "); ok {
			url = found
		}
	}
	if url == "" {
		t.Fatalf("it does not listen\n%s", log.String())
	}
	if text := rooted(t, root, uid, "/usr/bin/tocsin", "health", "--server", url); !strings.Contains(text, `"status":"ok"`) {
		t.Error(text)
	}
	go io.Copy(io.Discard, out)
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, log.String())
	}
	if out, err := rootedCommand(root, uid, "/usr/bin/tocsin", "health", "--server", url, "--timeout", "5s").CombinedOutput(); err == nil {
		t.Errorf("a server that has ended is healthy: %s", out)
	}
	written := []string{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil && info.Sys().(*syscall.Stat_t).Uid == uid {
			written = append(written, strings.TrimPrefix(path, root))
		}
		return nil
	})
	if err != nil || len(written) < 2 {
		t.Error(written, err)
	}
	for _, path := range written {
		if !strings.HasPrefix(path, "/data/") {
			t.Errorf("it wrote %s", path)
		}
	}
}

// The image is built from the files of the repository where a builder exists. Compiling inside needs the network, so the stage
// that compiles is replaced by a folder.
func TestImageIsBuilt(t *testing.T) {
	buildah := needs(t, "buildah", "apt-get install buildah")
	stage := filepath.Join(t.TempDir(), "out")
	if err := os.MkdirAll(filepath.Join(stage, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, "cp", binary(), filepath.Join(stage, "tocsin"))
	if err := os.WriteFile(filepath.Join(stage, "ca-certificates.crt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	store := []string{"--root", filepath.Join(scratch, "images"), "--runroot", filepath.Join(scratch, "running"), "--storage-driver", "vfs"}
	args := append(store, "build", "--isolation", "chroot", "--format", "docker", "--network", "host",
		"--build-context", "build="+filepath.Dir(stage), "-f", "deploy/container/Containerfile", "-t", "tocsin-test", ".")
	run(t, buildah, args...)
	config := run(t, buildah, append(store, "inspect", "--type", "image", "--format", "{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}} {{.Docker.Config.Healthcheck}}", "tocsin-test")...)
	for _, want := range []string{"65532:65532", "[/usr/bin/tocsin]", "health"} {
		if !strings.Contains(config, want) {
			t.Errorf("no %s in %s", want, config)
		}
	}
}

// The services of the program run with a read-only root and without rights, and every variable of the files is named in the head.
func TestCompose(t *testing.T) {
	for _, path := range []string{"deploy/compose/compose.yaml", "deploy/compose/compose.postgres.yaml"} {
		var file struct {
			Services map[string]struct {
				Image       string   `yaml:"image"`
				ReadOnly    bool     `yaml:"read_only"`
				CapDrop     []string `yaml:"cap_drop"`
				SecurityOpt []string `yaml:"security_opt"`
				Restart     string   `yaml:"restart"`
				Build       struct {
					Dockerfile string `yaml:"dockerfile"`
				} `yaml:"build"`
			} `yaml:"services"`
		}
		if err := yaml.Unmarshal([]byte(read(t, path)), &file); err != nil {
			t.Fatal(err)
		}
		nodes := 0
		for name, s := range file.Services {
			if s.Restart == "" {
				t.Errorf("%s: %s is not restarted", path, name)
			}
			if s.Image != "tocsin" {
				continue
			}
			nodes++
			if !s.ReadOnly || len(s.CapDrop) != 1 || s.CapDrop[0] != "ALL" || len(s.SecurityOpt) != 1 || !exists(filepath.Join(repo, s.Build.Dockerfile)) {
				t.Errorf("%s: %s has rights that it does not need, or no container file", path, name)
			}
		}
		if nodes == 0 {
			t.Errorf("%s runs no node", path)
		}
		if strings.Contains(read(t, path), "POSTGRES_PASSWORD: tocsin") {
			t.Errorf("%s has a password", path)
		}
	}
}

// nginx accepts its configuration, with addresses of this machine for those of the nodes.
func TestProxysConfiguration(t *testing.T) {
	nginx := needs(t, "nginx", "apt-get install nginx-light")
	dir := t.TempDir()
	text := regexp.MustCompile(`node\d:`).ReplaceAllString(read(t, "deploy/compose/nginx.conf"), "127.0.0.1:")
	text = "pid " + dir + "/pid;\n" + strings.ReplaceAll(text, "/dev/stdout", dir+"/access.log")
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(nginx, "-t", "-p", dir, "-c", path)
	c.WaitDelay = time.Minute
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
