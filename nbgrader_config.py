"""nbgrader's view of the course: solutions/ is its source, exercises/ its release.

Works from the course's folder: ``nbgrader generate_assignment 01_requires_grad``, then, with what
students handed in under submitted/, ``nbgrader autograde 01_requires_grad``.
"""

c = get_config()  # noqa: F821  nbgrader provides it

c.CourseDirectory.course_id = "autograd"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"

# Without these a student's tag "skip-execution" on a check would give its full points,
c.Execute.skip_cells_with_tag = ""
c.ExecutePreprocessor.skip_cells_with_tag = ""
# and a deleted check would stop the grading of that student.
c.OverwriteCells.add_missing_cells = True

# A cell may import torch on a busy machine.
c.Execute.timeout = 60
